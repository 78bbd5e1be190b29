#include "worker/dispatch.hpp"
#include "worker/prepared.hpp"

// NumPy's functions on the array itself. What comes out is computed, so nobody asks whether it
// shares memory or holds the same values; what it kept of the array is the question.
namespace dlbench::worker {

void Prepared::dispatch(const Order& order, const Step& step) {
  const std::string& protocol = order.exchange.protocol;
  const std::string function = dispatching(protocol);
  PyTypeObject* type = Py_TYPE(first_array());
  if (!overrides(type, protocol)) {
    step("call");
    throw Failure{Outcome::no_protocol, "",
                  std::string("a ") + type->tp_name + " offers no " + protocol +
                      ": NumPy converts it; np." + function + ": " +
                      look_at_dispatch(function, first_array(), producer_)};
  }
  show(pool_->arrays);
  const Ref result = cross_first(step);
  step("values");
  judgement_.changed = lost(first_array(), result.get(), producer_);
  seen_ = {protocol, "direct", {}, "", {}, {}, {}};
  add_warnings();
  step("calibrate");
  calibrate(order);
}

}  // namespace dlbench::worker
