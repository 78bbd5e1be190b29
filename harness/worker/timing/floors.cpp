#include "worker/timing/floors.hpp"

#include <algorithm>

#include "measure/round.hpp"
#include "worker/proxy/proxy.hpp"
#include "worker/timing/block.hpp"

namespace dlbench::worker {
namespace {

PyObject* do_nothing(PyObject*, PyObject*) {
  Py_RETURN_NONE;
}
PyObject* do_nothing_fast(PyObject*, PyObject* const*, Py_ssize_t, PyObject*) {
  Py_RETURN_NONE;
}

PyMethodDef kNothing{"nothing", do_nothing, METH_O, nullptr};
PyMethodDef kNothingMethod{
    "__dlpack__", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(do_nothing_fast)),
    METH_FASTCALL | METH_KEYWORDS, nullptr};

// Uses the timed loop of a cell, so that floors and cells are comparable.
double floor_of(PyObject* callable, PyObject* x) {
  ImportCall import_call(callable);
  std::size_t next = 0;
  Block block{import_call, {&x, 1}, next};
  constexpr int kBlocks = 7;
  constexpr std::uint64_t kIterations = 5000;
  double best = 0;
  for (int i = 0; i < kBlocks; ++i) {
    const measure::Reading reading = measure::round(block.body(), kIterations);
    if (!reading.valid) throw fetch_failure();
    best = i == 0 ? reading.ns : std::min(best, reading.ns);
  }
  return best;
}

}  // namespace

WorkerFloors measure_floors() {
  const measure::Floors bare = measure::floors();
  const Ref nothing = checked(PyCFunction_New(&kNothing, nullptr));

  // A producer with an empty export: a type that has only this method.
  static PyMethodDef methods[] = {kNothingMethod, {}};
  PyType_Slot slots[] = {{Py_tp_methods, methods}, {0, nullptr}};
  PyType_Spec spec{"dlbench.FreeProducer", sizeof(PyObject), 0, Py_TPFLAGS_DEFAULT, slots};
  const Ref type = checked(PyType_FromSpec(&spec));
  const Ref producer = checked(PyObject_CallNoArgs(type.get()));
  const Ref proxy = make_proxy(producer.get(), kShowsDlpack);
  const Ref exported = checked(
      PyObject_GetAttrString(reinterpret_cast<PyObject*>(Py_TYPE(proxy.get())), "__dlpack__"));
  return {bare.empty_ns, bare.clock_ns, floor_of(nothing.get(), Py_None),
          floor_of(exported.get(), proxy.get())};
}

}  // namespace dlbench::worker
