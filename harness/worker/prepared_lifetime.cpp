#include "worker/lifetime.hpp"
#include "worker/outliving.hpp"
#include "worker/prepared.hpp"

namespace dlbench::worker {

// Before anything else that was imported is let go of: what is deleted twice is better never
// deleted.
void Prepared::check_lifetime(Ref& result) {
  if (result.get() == first_array()) return;
  Lifetime found = look_at_lifetime(*pool_, shown_mask_, producer_, consumer_, [this](PyObject* x) {
    Ref imported = cross_once(x);
    wait_for(imported.get());
    return imported;
  });
  lifetime_ = std::move(found.warnings);
  if (!found.deleted_twice) return;
  result.release();
  throw Failure{Outcome::wrong, "", "deleter: called twice for one export"};
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
    if (!relayed()) return cross_once(array.get());
    return cross_once(make_relay(array.get(), shown_for(order.exchange.protocol)).get());
  };
  const auto wait = [this](PyObject* result) { wait_for(result); };
  const Ref spec = checked(PyObject_CallNoArgs(order.make_case.get()));
  const Ref room = checked(PyObject_GetAttrString(spec.get(), "room"));
  require_outliving(make_array(order.exchange, producer_, order.make_case), cross, wait, consumer_,
                    pool_->expected->view, PyLong_AsUnsignedLongLong(room.get()));
}

}  // namespace dlbench::worker
