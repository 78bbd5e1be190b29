#include "worker/library/consumer_call.hpp"

#include <vector>

#include "model/codes.hpp"
#include "model/names.hpp"
#include "model/places.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {
namespace {

// The result of `calls(source, target)` takes precedence over PROTOCOLS. Between two devices only
// `calls` is used.
Ref protocols_of(const Library& consumer, const Exchange& exchange) {
  Ref protocols = checked(PyObject_GetAttrString(consumer.consumer.get(), "PROTOCOLS"));
  if (!PyDict_Check(protocols.get())) protocols = checked(PyDict_New());
  if (exchange.device == "cpu") return protocols;
  // Report a missing or unusable device with the driver's reason in all cells.
  require_context(source_of(exchange));
  require_context(target_of(exchange));
  const Ref calls = optional_attribute(consumer.consumer.get(), "calls");
  if (!calls) return protocols;
  Ref here = checked(PyObject_CallFunction(calls.get(), "ss", source_of(exchange).c_str(),
                                           target_of(exchange).c_str()));
  if (!PyDict_Check(here.get())) {
    throw Failure{Outcome::import_failed, "",
                  "`calls` of " + exchange.consumer + "'s adapter must return a dict"};
  }
  if (crosses_devices(exchange)) return here;
  const Ref both = checked(PyDict_Copy(protocols.get()));
  if (PyDict_Update(both.get(), here.get()) != 0) throw fetch_failure();
  return Ref::borrow(both.get());
}

std::vector<std::string> names_in(const Ref& protocols) {
  std::vector<std::string> offered;
  for (const std::string_view protocol : kProtocols) {
    std::string name(protocol);
    if (PyDict_GetItemString(protocols.get(), name.c_str()) != nullptr) {
      offered.push_back(std::move(name));
    }
  }
  return offered;
}

}  // namespace

std::vector<std::string> imports_of(const Library& library) {
  const Ref protocols =
      library.consumer ? optional_attribute(library.consumer.get(), "PROTOCOLS") : Ref{};
  return protocols && PyDict_Check(protocols.get()) ? names_in(protocols)
                                                    : std::vector<std::string>{};
}

ConsumerCall call_of(const Library& consumer, const Exchange& exchange) {
  const Ref protocols = protocols_of(consumer, exchange);
  const std::vector<std::string> offered = names_in(protocols);
  std::string name(call_for(exchange.protocol, offered));
  if (name.empty()) {
    std::string reason = exchange.consumer + " has no call for " + exchange.protocol;
    const Ref absent = optional_attribute(consumer.consumer.get(), "ABSENT");
    PyObject* const why = absent && PyDict_Check(absent.get())
                              ? PyDict_GetItemString(absent.get(), exchange.protocol.c_str())
                              : nullptr;
    if (why != nullptr) reason += ": " + text_of(why);
    throw Failure{Outcome::no_protocol, "", std::move(reason), std::string(codes::kNotImported)};
  }
  Ref spelled = Ref::borrow(PyDict_GetItemString(protocols.get(), name.c_str()));
  if (name == Protocol::call) {
    Ref function = checked(PyObject_CallFunction(spelled.get(), "K",
                                                 static_cast<unsigned long long>(exchange.arrays)));
    return {std::move(name), std::move(function), true};
  }
  const Ref values = checked(PyDict_Values(protocols.get()));
  Py_ssize_t same = 0;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(values.get()); ++i) {
    same += PyList_GET_ITEM(values.get(), i) == spelled.get() ? 1 : 0;
  }
  const bool is_own = same == 1;
  return {std::move(name), std::move(spelled), is_own};
}

Ref ready_of(const Library& consumer, const Exchange& exchange, std::string& no_stream) {
  const DeviceAt at = device_named(target_of(exchange));
  Ref stream;
  try {
    if (at) stream = call_for_device(consumer, "stream", target_of(exchange));
  } catch (const Failure& failure) {
    no_stream = message_of(failure);
    return wait_on_device(at, nullptr);
  }
  // Wait in the same way for all libraries that name their stream, even if they define `ready`.
  if (stream) return wait_on_device(at, stream.get());
  if (Ref ready = consumer.function("ready")) return ready;
  return at ? wait_on_device(at, nullptr) : Ref();
}

}  // namespace dlbench::worker
