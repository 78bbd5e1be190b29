#include <algorithm>
#include <cmath>

#include "worker/device_memory.hpp"
#include "worker/extras.hpp"
#include "worker/growth.hpp"
#include "worker/lifetime.hpp"
#include "worker/outliving.hpp"
#include "worker/prepared.hpp"
#include "worker/spent.hpp"

namespace dlbench::worker {

// Before anything else that was imported is let go of: what is deleted twice is better never
// deleted.
void Prepared::check_lifetime(Ref& result) {
  if (result.get() == first_asked()) return;
  const Lender lender{*pool_, first_asked(), shown_mask_, producer_};
  Lifetime found = look_at_lifetime(lender, consumer_, [this](PyObject* x) {
    Ref imported = cross_once(x);
    wait_for(imported.get());
    return imported;
  });
  lifetime_ = std::move(found.warnings);
  if (!found.deleted_twice) return;
  result.release();
  throw Failure{Outcome::wrong, "", "deleter: called twice for one export"};
}

// A deleter that was called and did nothing shows only in what grows.
void Prepared::look_for_growth() {
  constexpr std::uint64_t kLeast = 64, kMost = 256;
  // Of dear exchanges so many would take longer than their rounds.
  if (calibrated_ < kLeast || most_iterations_ < kLeast) return;
  std::erase_if(lifetime_, [](const std::string& text) { return text.starts_with("memory:"); });
  const Spent::Span counted(Spent::On::library);
  Block block = this->block("ready");
  drain();
  const double left = bytes_left_behind(block.body(), std::min(calibrated_, kMost));
  if (left <= 0) return;
  lifetime_.push_back("memory: each exchange leaves " + std::to_string(std::lround(left)) +
                      " bytes behind");
}

// What was found beside the judgement, which is made anew each time.
void Prepared::add_warnings() {
  for (const auto& found : {lifetime_, noted_}) {
    judgement_.warnings.insert(judgement_.warnings.end(), found.begin(), found.end());
  }
}

// Crosses with an array that nobody else holds.
void Prepared::look_after_dropping(const Order& order) {
  if (order.exchange.bytes > kMostBytesToOutlive) return;
  const auto cross = [&](const Ref& array) {
    return cross_once(stand_for(array, order.exchange.protocol).get());
  };
  // Memory that the library keeps in a pool is written over where it comes again. Not the arrays
  // that are measured, should `make` return the same memory twice.
  const auto make_spoiled = [&]() -> Ref {
    try {
      Ref next = make_array(order.exchange, producer_, order.make_case);
      const exchange::View view = read_place(next.get(), producer_).view;
      const bool is_measured =
          std::any_of(pool_->arrays.begin(), pool_->arrays.end(), [&](const Ref& array) {
            return read_place(array.get(), producer_).view.address == view.address;
          });
      if (!is_measured) spoil(view);
      return next;
    } catch (const Failure&) {
      return {};
    }
  };
  const auto wait = [this](PyObject* result) { wait_for(result); };
  const Ref spec = checked(PyObject_CallNoArgs(order.make_case.get()));
  const Ref room = checked(PyObject_GetAttrString(spec.get(), "room"));
  std::vector<unsigned char> missing;
  try {
    missing = missing_of(extras_of(first_array(), producer_));
  } catch (const Failure&) {
    // `look_at_both_ends` said so already.
  }
  require_outliving(make_array(order.exchange, producer_, order.make_case), cross, wait,
                    make_spoiled, consumer_, pool_->expected->view, missing,
                    PyLong_AsUnsignedLongLong(room.get()));
}

}  // namespace dlbench::worker
