#include "worker/sync/busy.hpp"

#include "worker/arrays/read.hpp"
#include "worker/library/exported.hpp"

namespace dlbench::worker {

bool has_busy(const Library& producer) {
  return bool(producer.function("busy"));
}

// `busy` returns an array, or an array and its address if reading the address would wait.
BusyArray make_busy(const SyncLibraries& libraries, const Ref& stream, sync::Ns delay) {
  const Ref busy = libraries.producer.function("busy");
  const Ref spec = checked(PyObject_CallNoArgs(libraries.make_case.get()));
  const OnStream inside(libraries.producer, &Library::producer, libraries.exchange.device, stream);
  BusyArray made;
  made.array = checked(PyObject_CallFunction(busy.get(), "Osd", spec.get(),
                                             libraries.exchange.device.c_str(),
                                             static_cast<double>(delay) * 1e-9));
  if (PyTuple_Check(made.array.get()) && PyTuple_GET_SIZE(made.array.get()) == 2) {
    made.address = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(made.array.get(), 1));
    if (PyErr_Occurred() != nullptr) throw fetch_failure();
    made.array = Ref::borrow(PyTuple_GET_ITEM(made.array.get(), 0));
  } else {
    made.address = read_place(made.array.get(), libraries.producer).view.address;
  }
  if (libraries.exported)
    made.exported = make_exported_like(libraries.exported.get(), made.array.get());
  return made;
}

// Only `address` is called, because an export may wait for the content.
BusyArray compute_from(const SyncLibraries& libraries, const Ref& source) {
  const Ref compute = libraries.producer.function("compute_from");
  const Ref address = libraries.producer.function("address");
  if (!address) {
    throw Failure{Outcome::unsupported, "",
                  "the adapter of " + libraries.exchange.producer +
                      " has `compute_from`, which needs `address`"};
  }
  BusyArray made;
  made.array = checked(PyObject_CallOneArg(compute.get(), source.get()));
  const Ref place = checked(PyObject_CallOneArg(address.get(), made.array.get()));
  made.address = PyLong_AsUnsignedLongLong(place.get());
  if (PyErr_Occurred() != nullptr) throw fetch_failure();
  if (libraries.exported)
    made.exported = make_exported_like(libraries.exported.get(), made.array.get());
  return made;
}

void wait_for(const Library& library, const Ref& array) {
  const Ref ready = library.function("ready");
  if (ready && array) checked(PyObject_CallOneArg(ready.get(), array.get()));
}

}  // namespace dlbench::worker
