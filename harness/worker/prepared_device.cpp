#include "model/places.hpp"
#include "worker/garbage.hpp"
#include "worker/prepared.hpp"
#include "worker/spent.hpp"

// What of an exchange is timed on the device's own clock.
namespace dlbench::worker {

void Prepared::prepare_device_clock(const Order& order) {
  try {
    const std::string device = target_of(order.exchange);
    const DeviceAt at = device_named(device);
    const Ref stream = asked_for_device(consumer_, "stream", device);
    if (!at || !stream) {
      throw Failure{Outcome::unsupported, "",
                    order.exchange.consumer + " tells no stream of its own on " + device};
    }
    void* handle = PyLong_AsVoidPtr(stream.get());
    if (PyErr_Occurred() != nullptr) throw fetch_failure();
    device_clock_ = std::make_unique<DeviceClock>(at, handle);
    Block timed = block("call");
    const Spent::Span counted(Spent::On::timing);
    const double call_ns = order.round_ns / static_cast<double>(calibrated_);
    iterations_["device"] = device_clock_->calibrate(timed.body(), call_ns, most_iterations_);
    first_ns_["device"] = 0;
  } catch (const Failure& failure) {
    without_["device"] = failure.reason;
  }
}

measure::Reading Prepared::device_round(measure::Body body, std::uint64_t iterations) {
  if (!device_clock_) throw Failure{Outcome::refused, "", "it has no device clock"};
  const measure::Reading reading = [&] {
    const Spent::Span counted(Spent::On::timing);
    return device_clock_->round(body, iterations);
  }();
  collect_garbage();
  return reading;
}

}  // namespace dlbench::worker
