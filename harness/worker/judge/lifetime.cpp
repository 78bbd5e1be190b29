#include "worker/judge/lifetime.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "exchange/layout.hpp"
#include "worker/base/garbage.hpp"
#include "worker/library/read.hpp"
#include "worker/proxy/borrowed_tensors.hpp"

namespace dlbench::worker {
namespace {

constexpr int kMostWaits = 500;
constexpr std::chrono::milliseconds kWait{1};

using All = std::vector<std::shared_ptr<BorrowedTensor>>;

bool is_open(const std::shared_ptr<BorrowedTensor>& borrowed) {
  return borrowed->has_deleter && borrowed->deletions == 0;
}

/// Where an array lies; 0 where unknown.
std::uintptr_t place_of(PyObject* array, const Library& library) {
  try {
    return read_place(array, library).view.address;
  } catch (const Failure&) {
    return 0;
  }
}

/// Does the result lie in memory that was deleted, and in none that was not? A consumer may request
/// twice and drop the first answer.
bool uses_what_it_gave_back(const All& borrowed_tensors, PyObject* result,
                            const Library& consumer) {
  if (std::ranges::all_of(borrowed_tensors, is_open)) return false;
  const std::uintptr_t place = place_of(result, consumer);
  bool given_back = false;
  for (const std::shared_ptr<BorrowedTensor>& borrowed : borrowed_tensors) {
    if (!exchange::extent_of(borrowed->view).holds(place)) continue;
    if (borrowed->deletions == 0) return false;
    given_back = true;
  }
  return given_back;
}

void wait_for_deleters(const All& borrowed_tensors) {
  if (std::ranges::none_of(borrowed_tensors, is_open)) return;
  collect_garbage();
  for (int i = 0; i < kMostWaits && std::ranges::any_of(borrowed_tensors, is_open); ++i) {
    PyThreadState* state = PyEval_SaveThread();
    std::this_thread::sleep_for(kWait);
    PyEval_RestoreThread(state);
  }
}

bool hides_read_only(const BorrowedTensor& borrowed, const Pool& pool, std::uintptr_t source) {
  constexpr std::uint64_t kSaysEnough =
      DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
  return pool.expected->view.readonly && (borrowed.flags & kSaysEnough) == 0 &&
         exchange::extent_of(borrowed.view).holds(source);
}

}  // namespace

Lifetime look_at_lifetime(const ExportSource& exported, const Library& consumer,
                          const std::function<Ref(PyObject*)>& cross) {
  const Pool& pool = exported.pool;
  PyObject* source = pool.arrays.front().get();
  Lifetime found;
  BorrowedTensors borrowed_tensors;
  bool early = false;
  try {
    Recorder recorder;
    recorder.watch(&borrowed_tensors);
    const RecordingProxy proxy(exported.asked, exported.shown, recorder);
    const Ref result = cross(proxy.get());
    // A consumer that holds the object itself needs no borrowed tensor.
    early = Py_REFCNT(proxy.get()) == 1 &&
            uses_what_it_gave_back(borrowed_tensors.all(), result.get(), consumer);
  } catch (const Failure&) {
    return found;
  }
  wait_for_deleters(borrowed_tensors.all());
  const auto any = [&](auto is) {
    return std::ranges::any_of(borrowed_tensors.all(),
                               [&](const auto& borrowed) { return is(*borrowed); });
  };
  found.deleted_twice = any([](const BorrowedTensor& borrowed) { return borrowed.deletions > 1; });
  if (early) warn(found.warnings, "deleter-early", "deleter: called while the result was alive");
  if (any([](const BorrowedTensor& borrowed) {
        return borrowed.has_deleter && borrowed.deletions == 0;
      })) {
    warn(found.warnings, "deleter-never", "deleter: never called");
  }
  if (any([](const BorrowedTensor& borrowed) { return !borrowed.has_deleter; })) {
    warn(found.warnings, "deleter-null", "deleter: null");
  }
  const std::uintptr_t place =
      pool.expected->view.readonly ? place_of(source, exported.producer) : 0;
  if (any([&](const BorrowedTensor& borrowed) { return hides_read_only(borrowed, pool, place); })) {
    warn(found.warnings, "read-only-hidden", "read-only: the export lacks the read-only flag");
  }
  return found;
}

}  // namespace dlbench::worker
