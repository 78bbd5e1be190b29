// Loops to compare dlbench with: they contain nothing of dlbench, and it must not cost more.
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <dlpack/dlpack.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count();
}

PyObject* loop(PyObject*, PyObject* arguments) {
  PyObject *call = nullptr, *x = nullptr;
  unsigned long long iterations = 0;
  if (!PyArg_ParseTuple(arguments, "OOK:loop", &call, &x, &iterations)) return nullptr;
  const vectorcallfunc vectorcall = PyVectorcall_Function(call);
  if (vectorcall == nullptr) return PyErr_Format(PyExc_TypeError, "%R has no vectorcall", call);
  PyObject* stack[] = {nullptr, x};
  const Clock::time_point begin = Clock::now();
  for (unsigned long long i = 0; i < iterations; ++i) {
    PyObject* result = vectorcall(call, stack + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    if (result == nullptr) return nullptr;
    Py_DECREF(result);
  }
  return PyFloat_FromDouble(nanoseconds_since(begin) / static_cast<double>(iterations));
}

// One block for each side, as in a native exchange: the managed tensor with its lengths, and the
// consumer's own array.
struct Export {
  DLManagedTensorVersioned managed;
  std::int64_t shape[1];
  std::int64_t strides[1];
};
struct Import {
  std::int64_t references;
  DLManagedTensorVersioned* managed;
  std::uintptr_t address;
  std::int64_t shape[1];
  std::int64_t strides[1];
};

void drop(DLManagedTensorVersioned* managed) {
  std::free(managed->manager_ctx);
}

[[gnu::noinline]] DLManagedTensorVersioned* give(float* data, std::int64_t elements) {
  auto* block = new (std::malloc(sizeof(Export))) Export;
  block->shape[0] = elements;
  block->strides[0] = 1;
  block->managed = {{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION},
                    block,
                    drop,
                    0,
                    {data, {kDLCPU, 0}, 1, {kDLFloat, 32, 1}, block->shape, block->strides, 0}};
  return &block->managed;
}

[[gnu::noinline]] Import* take(DLManagedTensorVersioned* managed) {
  if (managed->version.major != DLPACK_MAJOR_VERSION) return nullptr;
  const DLTensor& tensor = managed->dl_tensor;
  auto* array = new (std::malloc(sizeof(Import))) Import;
  array->references = 1;
  array->managed = managed;
  array->address = reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
  array->shape[0] = tensor.shape[0];
  array->strides[0] = tensor.strides[0];
  return array;
}

[[gnu::noinline]] void release(Import* array) {
  array->managed->deleter(array->managed);
  std::free(array);
}

PyObject* exchange(PyObject*, PyObject* arguments) {
  unsigned long long iterations = 0;
  if (!PyArg_ParseTuple(arguments, "K:exchange", &iterations)) return nullptr;
  static float data[1024];
  const Clock::time_point begin = Clock::now();
  for (unsigned long long i = 0; i < iterations; ++i) release(take(give(data, 1024)));
  return PyFloat_FromDouble(nanoseconds_since(begin) / static_cast<double>(iterations));
}

PyObject* capsule(PyObject*, PyObject* arguments) {
  unsigned long long iterations = 0;
  if (!PyArg_ParseTuple(arguments, "K:capsule", &iterations)) return nullptr;
  const Clock::time_point begin = Clock::now();
  for (unsigned long long i = 0; i < iterations; ++i) {
    PyObject* made = PyCapsule_New(&iterations, "dltensor_versioned", nullptr);
    if (made == nullptr) return nullptr;
    PyCapsule_SetName(made, "used_dltensor_versioned");
    Py_DECREF(made);
  }
  return PyFloat_FromDouble(nanoseconds_since(begin) / static_cast<double>(iterations));
}

PyObject* nothing(PyObject*, PyObject*) {
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"loop", loop, METH_VARARGS, "loop(call, array, iterations): ns of one call, in a bare C loop"},
    {"exchange", exchange, METH_VARARGS,
     "exchange(iterations): ns of export, import and release without a Python object between"},
    {"capsule", capsule, METH_VARARGS, "capsule(iterations): ns of making, renaming, freeing one"},
    {"nothing", nothing, METH_O, "nothing(x): a call that does nothing"},
    {},
};
PyModuleDef definition{PyModuleDef_HEAD_INIT,
                       "_bare",
                       "Loops without dlbench.",
                       -1,
                       methods,
                       nullptr,
                       nullptr,
                       nullptr,
                       nullptr};

}  // namespace

PyMODINIT_FUNC PyInit__bare() {
  return PyModule_Create(&definition);
}
