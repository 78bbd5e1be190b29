#include "worker/lifetimes.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <unordered_map>

namespace dlbench::worker {
namespace {

// A deleter may run on another thread, without the interpreter's lock, and long after the exchange.
struct Watched {
  std::mutex mutex;
  std::unordered_map<void*, void (*)()> deleters;
  Lifetimes::Counts counts;
  std::atomic<Lifetimes::When> now{Lifetimes::When::later};
};

Watched& watched() {
  static Watched& all = *new Watched;  // deleters may run at exit
  return all;
}

template <typename Managed>
void count_and_delete(Managed* managed) {
  Watched& all = watched();
  void (*deleter)() = nullptr;
  {
    const std::lock_guard lock(all.mutex);
    const auto found = all.deleters.find(managed);
    if (found != all.deleters.end()) {
      deleter = found->second;
      all.deleters.erase(found);
      ++all.counts.ran[static_cast<std::size_t>(all.now.load())];
    }
  }
  if (deleter == nullptr) return;
  auto* own = reinterpret_cast<void (*)(Managed*)>(deleter);
  managed->deleter = own;
  own(managed);
}

template <typename Managed>
void watch_managed(Managed* managed) {
  if (managed == nullptr || managed->deleter == nullptr) return;
  Watched& all = watched();
  const std::lock_guard lock(all.mutex);
  all.deleters[managed] = reinterpret_cast<void (*)()>(managed->deleter);
  ++all.counts.watched;
  managed->deleter = &count_and_delete<Managed>;
}

constexpr std::array<const char*, 4> kCapsules{"dltensor", "used_dltensor", "dltensor_versioned",
                                               "used_dltensor_versioned"};
destructor real_dealloc = nullptr;
CapsuleDeaths::Counts deaths{};

void counting_dealloc(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  std::size_t which = 0;
  while (which < kCapsules.size() &&
         (name == nullptr || std::strcmp(name, kCapsules[which]) != 0)) {
    ++which;
  }
  ++deaths[which];
  real_dealloc(capsule);
}

}  // namespace

void Lifetimes::begin() {
  Watched& all = watched();
  const std::lock_guard lock(all.mutex);
  // What has not run by now has been told of; its deleter is still known.
  all.counts = {};
}

void Lifetimes::watch(PyObject* capsule) {
  if (capsule == nullptr) return;
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    watch(static_cast<DLManagedTensorVersioned*>(
        PyCapsule_GetPointer(capsule, "dltensor_versioned")));
  } else if (PyCapsule_IsValid(capsule, "dltensor")) {
    watch_managed(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
  }
}

void Lifetimes::watch(DLManagedTensorVersioned* managed) {
  watch_managed(managed);
}

void Lifetimes::now(When when) {
  watched().now = when;
}

Lifetimes::Counts Lifetimes::counts() {
  Watched& all = watched();
  const std::lock_guard lock(all.mutex);
  return all.counts;
}

CapsuleDeaths::CapsuleDeaths() {
  deaths = {};
  real_dealloc = PyCapsule_Type.tp_dealloc;
  PyCapsule_Type.tp_dealloc = counting_dealloc;
}

CapsuleDeaths::~CapsuleDeaths() {
  PyCapsule_Type.tp_dealloc = real_dealloc;
}

CapsuleDeaths::Counts CapsuleDeaths::counts() const {
  return deaths;
}

}  // namespace dlbench::worker
