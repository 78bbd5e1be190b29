#include <optional>
#include <string_view>

#include "check/tensors/module.hpp"
#include "exchange/elements.hpp"

namespace dlbench::check {
namespace {

// Rules make arrays of some kilobytes, so a larger description is invalid and is not read.
constexpr std::uint64_t kMostBytes = std::uint64_t{4} << 20;

bool put(PyObject* dict, const char* key, PyObject* stolen) {
  const Ref value(stolen);
  return value && PyDict_SetItemString(dict, key, value.get()) == 0;
}

}  // namespace

PyObject* facts_of(const DLTensor& tensor) {
  Ref dict(PyDict_New());
  PyObject* strides = sizes_of(tensor.strides, tensor.ndim);
  const auto number = [](auto value) {
    return PyLong_FromUnsignedLongLong(static_cast<unsigned long long>(value));
  };
  const bool good =
      dict &&
      put(dict.get(), "device",
          Py_BuildValue("(ii)", static_cast<int>(tensor.device.device_type),
                        static_cast<int>(tensor.device.device_id))) &&
      put(dict.get(), "dtype",
          Py_BuildValue("(BBH)", tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes)) &&
      put(dict.get(), "ndim", PyLong_FromLong(tensor.ndim)) &&
      put(dict.get(), "shape",
          tensor.ndim == 0 ? PyTuple_New(0) : sizes_of(tensor.shape, tensor.ndim)) &&
      put(dict.get(), "strides", strides) &&
      put(dict.get(), "data", number(reinterpret_cast<std::uintptr_t>(tensor.data))) &&
      put(dict.get(), "byte_offset", number(tensor.byte_offset));
  return good ? dict.release() : nullptr;
}

PyObject* facts_of(const DLManagedTensor& managed) {
  Ref dict(facts_of(managed.dl_tensor));
  const bool good = dict && put(dict.get(), "struct", PyUnicode_FromString("legacy")) &&
                    put(dict.get(), "version", Py_NewRef(Py_None)) &&
                    put(dict.get(), "flags", PyLong_FromLong(0)) &&
                    put(dict.get(), "context", PyBool_FromLong(managed.manager_ctx != nullptr)) &&
                    put(dict.get(), "deleter", PyBool_FromLong(managed.deleter != nullptr));
  return good ? dict.release() : nullptr;
}

PyObject* facts_of(const DLManagedTensorVersioned& managed) {
  const bool known = managed.version.major == DLPACK_MAJOR_VERSION;
  Ref dict(known ? facts_of(managed.dl_tensor) : PyDict_New());
  const bool good = dict && put(dict.get(), "struct", PyUnicode_FromString("versioned")) &&
                    put(dict.get(), "version",
                        Py_BuildValue("(II)", managed.version.major, managed.version.minor)) &&
                    put(dict.get(), "flags", PyLong_FromUnsignedLongLong(managed.flags)) &&
                    put(dict.get(), "context", PyBool_FromLong(managed.manager_ctx != nullptr)) &&
                    put(dict.get(), "deleter", PyBool_FromLong(managed.deleter != nullptr));
  return good ? dict.release() : nullptr;
}

PyObject* read_capsule(PyObject*, PyObject* capsule) {
  const char* name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : nullptr;
  if (name == nullptr) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%R is not a named capsule", capsule);
    return nullptr;
  }
  std::string_view kind = name;
  if (kind.starts_with("used_")) kind.remove_prefix(5);
  Ref dict;
  if (kind == kVersionedName) {
    dict.reset(
        facts_of(*static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, name))));
  } else if (kind == kLegacyName) {
    dict.reset(facts_of(*static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, name))));
  } else {
    PyErr_Format(PyExc_ValueError, "the capsule's name is '%s'", name);
    return nullptr;
  }
  return dict && put(dict.get(), "name", PyUnicode_FromString(name)) ? dict.release() : nullptr;
}

PyObject* gather(PyObject*, PyObject* arguments) {
  PyObject *address = nullptr, *sizes = nullptr, *steps = nullptr;
  Py_ssize_t item = 0;
  std::vector<std::int64_t> shape, strides;
  if (!PyArg_ParseTuple(arguments, "OOOn:gather", &address, &sizes, &steps, &item) ||
      !read_ints(sizes, shape) || (steps != Py_None && !read_ints(steps, strides))) {
    return nullptr;
  }
  const void* first = read_address(address);
  if (PyErr_Occurred()) return nullptr;
  const exchange::Elements elements(
      reinterpret_cast<std::uintptr_t>(first), shape,
      steps == Py_None ? std::nullopt : std::optional<std::span<const std::int64_t>>(strides),
      item);
  if (elements.bytes() > kMostBytes) {
    PyErr_Format(PyExc_ValueError, "elements of %llu bytes",
                 static_cast<unsigned long long>(elements.bytes()));
    return nullptr;
  }
  PyObject* bytes = PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(elements.bytes()));
  if (bytes != nullptr) {
    elements.pack(reinterpret_cast<std::byte*>(PyBytes_AS_STRING(bytes)));
  }
  return bytes;
}

}  // namespace dlbench::check
