#include "worker/arrays/read.hpp"

#include <optional>
#include <utility>

#include "exchange/layout.hpp"
#include "model/codes.hpp"
#include "model/places.hpp"
#include "worker/library/device_memory.hpp"
#include "worker/library/devices.hpp"
#include "worker/library/exported.hpp"

namespace dlbench::worker {

namespace {

// The array as the library exports it, which may be a copy.
Held read_export(PyObject* array, const Library& library) {
  if (const Ref exported = exported_place(array, library)) return read_array(exported.get());
  const Ref memory = library.function("memory");
  return read_array(memory ? checked(PyObject_CallOneArg(memory.get(), array)).get() : array);
}

std::optional<std::uintptr_t> own_address(PyObject* array, const Library& library) {
  const Ref address = library.function("address");
  if (!address) return {};
  const Ref number = checked(PyObject_CallOneArg(address.get(), array));
  if (number.get() == Py_None) return {};
  const std::uintptr_t own = PyLong_AsUnsignedLongLong(number.get());
  if (PyErr_Occurred()) throw fetch_failure();
  return own;
}

// With a known address, the library's own shape and values are used if no export is readable.
Held at_address(std::uintptr_t own, PyObject* array, const Library& library) {
  Held held = [&] {
    try {
      return read_export(array, library);
    } catch (const Failure& failure) {
      if (failure.outcome != Outcome::unproven || !library.function("values")) throw;
      return read_values(array, library);
    }
  }();
  held.view.address = own;
  return held;
}

using Place = std::pair<const device::Table*, int>;

// Where an array is instead of this place, in words; otherwise empty. The host has no table.
std::string other_place(const Place& wanted, const DeviceAt& driver, PyObject* array,
                        const Library& library) try {
  const auto address = own_address(array, library).value_or(0);
  const std::optional<MemoryAt> found = address ? memory_at(driver, address) : std::nullopt;
  if (found) {
    const bool is_host = found->kind == device::Memory::Pageable;
    const Place place = is_host ? Place{} : Place{driver.table, found->ordinal};
    if (place == wanted || (!is_host && found->kind != device::Memory::Device)) return {};
    return "the driver finds it " + (is_host ? "in host memory"
                                             : "on " + std::string(driver.table->name) + ":" +
                                                   std::to_string(found->ordinal));
  }
  const std::optional<exchange::Device> stated = stated_device(array);
  if (!stated) return {};
  const DeviceAt at = device_at(*stated);
  if (wanted == Place{} && exchange::on_host(*stated)) return {};
  if (Place{at.table, at.ordinal} == wanted) return {};
  return "its __dlpack_device__() returns (" + std::to_string(stated->type) + ", " +
         std::to_string(stated->id) + ")";
} catch (const Failure&) {
  return {};
}

}  // namespace

void require_device(const std::string& device, const Exchange& exchange, PyObject* array,
                    const Library& library) {
  const DeviceAt at = device_named(device);
  const bool is_source = device == source_of(exchange);
  const DeviceAt driver = at || is_source ? at : device_named(source_of(exchange));
  const std::string other =
      driver ? other_place({at.table, at.ordinal}, driver, array, library) : "";
  if (other.empty()) return;
  throw Failure{Outcome::no_device, "",
                (is_source ? exchange.producer : exchange.consumer) +
                    " was asked for an array on " + device + ": " + other,
                std::string(codes::kNoArraysThere)};
}

Held read_place(PyObject* array, const Library& library) {
  if (const auto own = own_address(array, library)) return at_address(*own, array, library);
  Held held = read_export(array, library);
  // Both are held, so a second copy has another address than the first.
  if (read_export(array, library).view.address == held.view.address) return held;
  throw Failure{Outcome::unproven, "",
                std::string("each export of a ") + Py_TYPE(array)->tp_name +
                    " has another address, so it copies and the address of the array is unknown: "
                    "add `address(array)` to the adapter"};
}

Writable writable_place(PyObject* array, const Library& library, std::uintptr_t address) {
  const Writable own = writable_of(array, address);
  const Ref memory = library.function("memory");
  if (own == Writable::no || !memory) return own;
  const Ref place = Ref::steal(PyObject_CallOneArg(memory.get(), array));
  if (!place) PyErr_Clear();
  // A library may show its memory by a read-only view, and write to it all the same.
  const bool is_shown = place && writable_of(place.get(), address) == Writable::yes;
  return is_shown ? Writable::yes : own;
}

Held read_values(PyObject* array, const Library& library) {
  const Ref values = library.function("values");
  if (!values) {
    const auto own = own_address(array, library);
    return on_host_memory(own ? at_address(*own, array, library) : read_export(array, library));
  }
  return on_host_memory(read_array(checked(PyObject_CallOneArg(values.get(), array)).get()));
}

}  // namespace dlbench::worker
