#pragma once

#include "block.hpp"
#include "log.hpp"
#include "python.hpp"

namespace dlbench::native {

/// The native producer's Python object.
struct Array {
  PyObject ob_base;
  Block* block;         // the array's reference
  PyObject* interface;  // __array_interface__, copied for each request; null until then
};

inline PyTypeObject array_type{};

inline Block& block_of(PyObject* self) {
  return *reinterpret_cast<Array*>(self)->block;
}

inline PyObject* new_array(Block::Owner block) {
  PyObject* self = array_type.tp_alloc(&array_type, 0);
  if (self != nullptr) reinterpret_cast<Array*>(self)->block = block.release();
  return self;
}

/// False with BufferError set if DLPack cannot express the layout.
inline bool check_strides(const Block& block) {
  if (block.fits_dlpack()) [[likely]]
    return true;
  PyErr_SetString(PyExc_BufferError, "strides are not multiples of the element's size");
  return false;
}

}  // namespace dlbench::native
