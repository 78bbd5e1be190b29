#include "worker/judge/lifetime.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "exchange/layout.hpp"
#include "worker/base/garbage.hpp"
#include "worker/library/read.hpp"
#include "worker/proxy/loans.hpp"

namespace dlbench::worker {
namespace {

constexpr int kMostWaits = 500;
constexpr std::chrono::milliseconds kWait{1};

using All = std::vector<std::shared_ptr<Loan>>;

bool is_open(const std::shared_ptr<Loan>& loan) {
  return loan->has_deleter && loan->deletions == 0;
}

/// Where an array lies; 0 where nothing tells.
std::uintptr_t place_of(PyObject* array, const Library& library) {
  try {
    return read_place(array, library).view.address;
  } catch (const Failure&) {
    return 0;
  }
}

/// Does the result lie in memory that was given back, and in none that was not? A consumer may ask
/// twice and drop the first answer.
bool uses_what_it_gave_back(const All& loans, PyObject* result, const Library& consumer) {
  if (std::ranges::all_of(loans, is_open)) return false;
  const std::uintptr_t place = place_of(result, consumer);
  bool given_back = false;
  for (const std::shared_ptr<Loan>& loan : loans) {
    if (!exchange::extent_of(loan->view).holds(place)) continue;
    if (loan->deletions == 0) return false;
    given_back = true;
  }
  return given_back;
}

void wait_for_deleters(const All& loans) {
  if (std::ranges::none_of(loans, is_open)) return;
  collect_garbage();
  for (int i = 0; i < kMostWaits && std::ranges::any_of(loans, is_open); ++i) {
    PyThreadState* state = PyEval_SaveThread();
    std::this_thread::sleep_for(kWait);
    PyEval_RestoreThread(state);
  }
}

bool hides_read_only(const Loan& loan, const Pool& pool, std::uintptr_t source) {
  constexpr std::uint64_t kSaysEnough =
      DLPACK_FLAG_BITMASK_READ_ONLY | DLPACK_FLAG_BITMASK_IS_COPIED;
  return pool.expected->view.readonly && (loan.flags & kSaysEnough) == 0 &&
         exchange::extent_of(loan.view).holds(source);
}

}  // namespace

Lifetime look_at_lifetime(const Lender& lender, const Library& consumer,
                          const std::function<Ref(PyObject*)>& cross) {
  const Pool& pool = lender.pool;
  PyObject* source = pool.arrays.front().get();
  Lifetime found;
  Loans loans;
  bool early = false;
  try {
    Tap tap;
    tap.watch(&loans);
    const TappedRelay relay(lender.asked, lender.shown, tap);
    const Ref result = cross(relay.get());
    // Who holds the object itself needs no loan.
    early =
        Py_REFCNT(relay.get()) == 1 && uses_what_it_gave_back(loans.all(), result.get(), consumer);
  } catch (const Failure&) {
    return found;
  }
  wait_for_deleters(loans.all());
  const auto any = [&](auto is) {
    return std::ranges::any_of(loans.all(), [&](const auto& loan) { return is(*loan); });
  };
  found.deleted_twice = any([](const Loan& loan) { return loan.deletions > 1; });
  if (early) warn(found.warnings, "deleter-early", "deleter: called while the result was alive");
  if (any([](const Loan& loan) { return loan.has_deleter && loan.deletions == 0; })) {
    warn(found.warnings, "deleter-never", "deleter: never called");
  }
  if (any([](const Loan& loan) { return !loan.has_deleter; })) {
    warn(found.warnings, "deleter-null", "deleter: null");
  }
  const std::uintptr_t place = pool.expected->view.readonly ? place_of(source, lender.producer) : 0;
  if (any([&](const Loan& loan) { return hides_read_only(loan, pool, place); })) {
    warn(found.warnings, "read-only-hidden", "read-only: the export does not say so");
  }
  return found;
}

}  // namespace dlbench::worker
