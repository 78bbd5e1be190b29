#include "worker/library/order.hpp"

#include <nlohmann/json.hpp>

namespace dlbench::worker {
namespace {

using nlohmann::json;

Ref python_from(const json& value) {
  const Ref loads = checked(PyImport_ImportModule("json"));
  return checked(PyObject_CallMethod(loads.get(), "loads", "s", value.dump().c_str()));
}

Ref partial(const Ref& function, const json& keywords) {
  const Ref functools = checked(PyImport_ImportModule("functools"));
  const Ref partial = checked(PyObject_GetAttrString(functools.get(), "partial"));
  const Ref positional = checked(PyTuple_Pack(1, function.get()));
  return checked(PyObject_Call(partial.get(), positional.get(), python_from(keywords).get()));
}

}  // namespace

Order order_of(const json& request) {
  Order order;
  const json& exchange = request.at("exchange");
  each_axis_of_exchange(order.exchange, [&exchange](const char* key, auto& value) {
    if (key != std::string_view("arrays") || exchange.contains(key)) {
      exchange.at(key).get_to(value);
    }
  });
  order.clocks = request.at("clocks").get<std::vector<std::string>>();
  order.round_ns = request.value("round_ns", order.round_ns);
  order.special = request.at("case").value("special", "");
  order.make_case = case_maker(request.at("case"), order.exchange.bytes);
  return order;
}

Ref case_maker(json description, std::uint64_t bytes) {
  description["bytes"] = bytes;
  const Ref module = checked(PyImport_ImportModule("dlbench.case"));
  return partial(checked(PyObject_GetAttrString(module.get(), "Case")), description);
}

Ref with_bytes(const Ref& make_case, std::uint64_t bytes) {
  return partial(make_case, {{"bytes", bytes}});
}

}  // namespace dlbench::worker
