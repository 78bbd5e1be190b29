#include "check/tensors/module.hpp"
#include "exchange/read.hpp"

namespace dlbench::check {
namespace {

using exchange::ArrayStruct;

/// A struct and the data that it points to.
struct Kept {
  ArrayStruct facts{};
  std::vector<std::intptr_t> shape, strides;
  PyObject* owner = nullptr;

  static void drop(PyObject* capsule) {
    const std::unique_ptr<Kept> kept(static_cast<Kept*>(PyCapsule_GetContext(capsule)));
    Py_XDECREF(kept->owner);
  }
};

}  // namespace

PyObject* read_struct(PyObject*, PyObject* capsule) {
  const char* name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : nullptr;
  if (!PyCapsule_CheckExact(capsule)) {
    PyErr_Format(PyExc_ValueError, "%R is not a capsule", capsule);
    return nullptr;
  }
  PyErr_Clear();
  const auto* facts = static_cast<const ArrayStruct*>(PyCapsule_GetPointer(capsule, name));
  if (facts == nullptr) return nullptr;
  return Py_BuildValue(
      "{s:i,s:i,s:N,s:i,s:i,s:N,s:N,s:N}", "two", facts->two, "ndim", facts->nd, "kind",
      PyUnicode_FromStringAndSize(&facts->typekind, 1), "itemsize", facts->itemsize, "flags",
      facts->flags, "shape", facts->nd == 0 ? PyTuple_New(0) : sizes_of(facts->shape, facts->nd),
      "strides", sizes_of(facts->strides, facts->nd), "data", PyLong_FromVoidPtr(facts->data));
}

PyObject* make_struct(PyObject*, PyObject* arguments) {
  PyObject *shape = nullptr, *strides = nullptr, *data = nullptr, *owner = nullptr;
  auto kept = std::make_unique<Kept>();
  ArrayStruct& facts = kept->facts;
  int kind = 0;
  std::vector<std::int64_t> numbers, steps;
  if (!PyArg_ParseTuple(arguments, "iCiiOOOO:make_struct", &facts.two, &kind, &facts.itemsize,
                        &facts.flags, &shape, &strides, &data, &owner) ||
      !read_ints(shape, numbers) || !read_ints(strides, steps)) {
    return nullptr;
  }
  kept->shape.assign(numbers.begin(), numbers.end());
  kept->strides.assign(steps.begin(), steps.end());
  facts.typekind = static_cast<char>(kind);
  facts.nd = static_cast<int>(numbers.size());
  facts.shape = kept->shape.data();
  facts.strides = kept->strides.data();
  facts.data = read_address(data);
  facts.descr = nullptr;
  if (PyErr_Occurred()) return nullptr;
  PyObject* capsule = PyCapsule_New(&facts, nullptr, &Kept::drop);
  if (capsule == nullptr) return nullptr;
  kept->owner = Py_NewRef(owner);
  PyCapsule_SetContext(capsule, kept.release());
  return capsule;
}

}  // namespace dlbench::check
