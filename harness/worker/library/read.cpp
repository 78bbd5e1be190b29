#include "worker/library/read.hpp"

#include "worker/library/device_memory.hpp"
#include "worker/library/exported.hpp"

namespace dlbench::worker {

Held read_place(PyObject* array, const Library& library) {
  const Ref memory = library.function("memory");
  Ref place = memory ? checked(PyObject_CallOneArg(memory.get(), array)) : Ref::borrow(array);
  if (Ref exported = exported_place(array, library)) place = std::move(exported);
  const Ref address = library.function("address");
  const Ref number =
      address ? checked(PyObject_CallOneArg(address.get(), array)) : Ref::borrow(Py_None);
  if (number.get() == Py_None) return read_array(place.get());
  // With a known address, the library's own shape and values are used instead of an export.
  Held held = [&] {
    try {
      return read_array(place.get());
    } catch (const Failure& failure) {
      if (failure.outcome != Outcome::unproven || !library.function("values")) throw;
      return read_values(array, library);
    }
  }();
  held.view.address = PyLong_AsUnsignedLongLong(number.get());
  if (PyErr_Occurred()) throw fetch_failure();
  return held;
}

Writable writable_place(PyObject* array, const Library& library, std::uintptr_t address) {
  const Writable own = writable_of(array, address);
  const Ref memory = library.function("memory");
  if (own == Writable::no || !memory) return own;
  const Ref place = Ref::steal(PyObject_CallOneArg(memory.get(), array));
  if (!place) PyErr_Clear();
  const Writable inside = place ? writable_of(place.get(), address) : Writable::unknown;
  return inside == Writable::unknown ? own : inside;
}

Held read_values(PyObject* array, const Library& library) {
  const Ref values = library.function("values");
  if (!values) return on_host_memory(read_place(array, library));
  return on_host_memory(read_array(checked(PyObject_CallOneArg(values.get(), array)).get()));
}

}  // namespace dlbench::worker
