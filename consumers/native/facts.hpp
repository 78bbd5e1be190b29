#pragma once

#include <exception>

#include "array.hpp"

namespace dlbench::native {

inline const Dtype* source(std::int64_t bytes) {
  const Dtype* dtype = find_dtype('u', bytes);
  if (dtype == nullptr) {
    PyErr_Format(PyExc_BufferError, "no buffer format has elements of %lld bytes",
                 static_cast<long long>(bytes));
  }
  return dtype;
}

/// False with BufferError set if there is a flaw.
inline bool is_sound(const char* flaw) {
  if (flaw == nullptr) return true;
  PyErr_Format(PyExc_BufferError, "the export is invalid: %s", flaw);
  return false;
}

inline std::string dtype_text(DLDataType type) {
  return "dlpack(" + std::to_string(type.code) + "," + std::to_string(type.bits) + "," +
         std::to_string(type.lanes) + ")";
}

inline bool read_tensor(const DLTensor& tensor, bool readonly, Facts& facts) {
  const Dtype* dtype = find_dtype(tensor.dtype);
  facts.dtype = dtype != nullptr ? std::string(dtype->name) : dtype_text(tensor.dtype);
  if (dtype == nullptr) {
    const int bits = tensor.dtype.bits * tensor.dtype.lanes;
    dtype = source(bits % 8 == 0 ? bits / 8 : 0);
    if (dtype == nullptr) return false;
  }
  facts.address = static_cast<std::byte*>(tensor.data) + tensor.byte_offset;
  facts.device = tensor.device;
  facts.layout = {.dtype = dtype, .shape = {}, .strides = {}, .readonly = readonly};
  return is_sound(facts.layout.assign(tensor.ndim, tensor.shape, tensor.strides, dtype->bytes));
}

inline bool read_buffer(const Py_buffer& buffer, Facts& facts) {
  const Dtype* dtype = find_format(buffer.format, buffer.itemsize);
  const char* format = buffer.format != nullptr ? buffer.format : "B";
  facts.dtype = dtype != nullptr ? dtype->name : format;
  if (dtype == nullptr && (dtype = source(buffer.itemsize)) == nullptr) return false;
  facts.address = buffer.buf;
  facts.layout = {.dtype = dtype, .shape = {}, .strides = {}, .readonly = buffer.readonly != 0};
  // ctypes exports no strides even if they are requested.
  return is_sound(facts.layout.assign(buffer.ndim, buffer.shape, buffer.strides, 1));
}

inline bool read_struct(const ArrayStruct& given, Facts& facts) {
  const Dtype* dtype = find_dtype(given.kind, given.itemsize);
  if (dtype == nullptr || (given.flags & kNotSwapped) == 0) {
    PyErr_Format(PyExc_BufferError, "native does not support kind '%c' of %d bytes%s", given.kind,
                 given.itemsize, (given.flags & kNotSwapped) == 0 ? ", byte-swapped" : "");
    return false;
  }
  facts.dtype = dtype->name;
  facts.address = given.data;
  facts.layout = {
      .dtype = dtype, .shape = {}, .strides = {}, .readonly = (given.flags & kWriteable) == 0};
  return is_sound(facts.layout.assign(given.ndim, given.shape, given.strides, 1));
}

inline bool read_facts(const Array& array, Facts& facts) {
  switch (array.via) {
    case Via::kVersioned:
      return read_tensor(array.versioned->dl_tensor,
                         (array.versioned->flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0, facts);
    case Via::kLegacy:
      return read_tensor(array.legacy->dl_tensor, false, facts);
    case Via::kBuffer:
      return read_buffer(array.buffer, facts);
    case Via::kStruct:
      return read_struct(
          *static_cast<const ArrayStruct*>(PyCapsule_GetPointer(array.owner.capsule, nullptr)),
          facts);
    case Via::kInterface:
    case Via::kCudaInterface:
      break;  // read during the import
  }
  return true;
}

/// Null with an exception set if the memory cannot be described.
inline const Facts* facts_of(PyObject* self) try {
  Array* array = array_of(self);
  if (array->facts == nullptr) {
    auto facts = std::make_unique<Facts>();
    if (!read_facts(*array, *facts)) return nullptr;
    array->facts = facts.release();
  }
  return array->facts;
} catch (const std::bad_alloc&) {
  PyErr_NoMemory();
  return nullptr;
} catch (const std::exception& error) {
  PyErr_SetString(PyExc_BufferError, error.what());
  return nullptr;
}

}  // namespace dlbench::native
