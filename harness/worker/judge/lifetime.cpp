#include "worker/judge/lifetime.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "exchange/guard/heap.hpp"
#include "exchange/layout.hpp"
#include "worker/arrays/read.hpp"
#include "worker/base/garbage.hpp"
#include "worker/proxy/borrowed_tensors.hpp"

namespace dlbench::worker {
namespace {

// Less than the size of any struct of DLPack with malloc's overhead.
constexpr double kLeastBytes = 16;
constexpr int kBlocks = 3;

constexpr int kMostWaits = 500;
constexpr std::chrono::milliseconds kWait{1};

using All = std::vector<std::shared_ptr<BorrowedTensor>>;

bool is_open(const std::shared_ptr<BorrowedTensor>& borrowed) {
  return borrowed->has_deleter && borrowed->deletions == 0;
}

/// The address of an array; 0 if unknown.
std::uintptr_t place_of(PyObject* array, const Library& library) {
  try {
    return read_place(array, library).view.address;
  } catch (const Failure&) {
    return 0;
  }
}

/// Does the result use memory that was deleted? Memory of a tensor that is still open is alive,
/// because a consumer may request twice and drop the first answer.
bool uses_deleted_memory(const All& borrowed_tensors, PyObject* result, const Library& consumer) {
  if (std::ranges::all_of(borrowed_tensors, is_open)) return false;
  const std::uintptr_t place = place_of(result, consumer);
  bool is_deleted = false;
  for (const std::shared_ptr<BorrowedTensor>& borrowed : borrowed_tensors) {
    if (!exchange::extent_of(borrowed->view).holds(place)) continue;
    if (borrowed->deletions == 0) return false;
    is_deleted = true;
  }
  return is_deleted;
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

Lifetime observe_lifetime(const ExportSource& exported, const Library& consumer,
                          const std::function<Ref(PyObject*)>& import) {
  const Pool& pool = exported.pool;
  PyObject* source = pool.arrays.front().get();
  Lifetime found;
  BorrowedTensors borrowed_tensors;
  bool early = false;
  try {
    Recorder recorder;
    recorder.watch(&borrowed_tensors);
    const RecordingProxy proxy(exported.exporter, exported.shown, recorder);
    const Ref result = import(proxy.get());
    // A consumer that owns the object itself needs no borrowed tensor.
    early = Py_REFCNT(proxy.get()) == 1 &&
            uses_deleted_memory(borrowed_tensors.all(), result.get(), consumer);
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

double bytes_left_behind(measure::Body body, std::uint64_t calls) {
  if (calls == 0 || !exchange::heap_bytes()) return 0;
  double least = 0;
  for (int block = 0; block < kBlocks; ++block) {
    const auto before = static_cast<double>(*exchange::heap_bytes());
    if (body.run(body.self, calls) != calls) {
      PyErr_Clear();
      return 0;
    }
    const double grown = static_cast<double>(*exchange::heap_bytes()) - before;
    const double each = grown / static_cast<double>(calls);
    if (each < kLeastBytes) return 0;
    least = block == 0 ? each : std::min(least, each);
  }
  return least;
}

}  // namespace dlbench::worker
