#include "check/facts.hpp"

#include <cstring>
#include <string_view>

namespace dlbench::check {
namespace {

constexpr std::int32_t kMostAxes = 64;

bool put(PyObject* dict, const char* key, PyObject* stolen) {
  const Ref value(stolen);
  return value && PyDict_SetItemString(dict, key, value.get()) == 0;
}

PyObject* ints(const std::int64_t* values, std::int32_t count) {
  const bool absurd = count < 0 || count > kMostAxes || (values == nullptr && count > 0);
  if (absurd || values == nullptr) {
    return !absurd && count == 0 ? PyTuple_New(0) : Py_NewRef(Py_None);
  }
  return tuple_of({values, static_cast<std::size_t>(count)});
}

bool copy_elements(std::size_t axis, std::span<const std::int64_t> shape,
                   std::span<const std::int64_t> strides, const char* from, std::size_t item,
                   char*& to) {
  if (axis == shape.size()) {
    std::memcpy(to, from, item);
    to += item;
    return true;
  }
  for (std::int64_t i = 0; i < shape[axis]; ++i) {
    copy_elements(axis + 1, shape, strides, from + i * strides[axis], item, to);
  }
  return true;
}

}  // namespace

PyObject* facts_of(const DLTensor& tensor) {
  Ref dict(PyDict_New());
  PyObject* strides =
      tensor.strides == nullptr ? Py_NewRef(Py_None) : ints(tensor.strides, tensor.ndim);
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
      put(dict.get(), "shape", ints(tensor.shape, tensor.ndim)) &&
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
                    put(dict.get(), "deleter", PyBool_FromLong(managed.deleter != nullptr));
  return good ? dict.release() : nullptr;
}

PyObject* read_capsule(PyObject*, PyObject* capsule) {
  const char* name = PyCapsule_CheckExact(capsule) ? PyCapsule_GetName(capsule) : nullptr;
  if (name == nullptr) {
    PyErr_Clear();
    PyErr_Format(PyExc_ValueError, "%R is no named capsule", capsule);
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
  if (steps == Py_None) {
    strides.assign(shape.size(), item);
    for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
  }
  if (strides.size() != shape.size()) {
    PyErr_SetString(PyExc_ValueError, "as many strides as sizes are wanted");
    return nullptr;
  }
  std::int64_t total = item;
  for (const std::int64_t size : shape) total *= size;
  const void* first = read_address(address);
  if (PyErr_Occurred()) return nullptr;
  if (total < 0 || total > (std::int64_t{1} << 32) || (first == nullptr && total > 0)) {
    PyErr_SetString(PyExc_ValueError, "no memory that could be read");
    return nullptr;
  }
  PyObject* bytes = PyBytes_FromStringAndSize(nullptr, total);
  if (bytes == nullptr || total == 0) return bytes;
  char* to = PyBytes_AS_STRING(bytes);
  copy_elements(0, shape, strides, static_cast<const char*>(first), static_cast<std::size_t>(item),
                to);
  return bytes;
}

}  // namespace dlbench::check
