#pragma once

#include <dlpack/dlpack.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// Reads the content of a capsule (dlpack.h v1.3). `strides` may be NULL (compact row-major;
/// allowed before v1.2), `shape` and `strides` may be NULL for ndim 0, `data` only without
/// elements. Throws ViewError. Never reads the array's bytes.
View read(const DLTensor& tensor);
View read(const DLManagedTensor& managed);

/// Rejects another major version without reading past `flags` (section "version").
View read(const DLManagedTensorVersioned& managed);

/// The fields of a Py_buffer (PEP 3118) as plain values, so that this room does not depend on
/// Python. Empty `strides` mean C order.
struct BufferFacts {
  std::uintptr_t address = 0;
  std::int64_t length = 0;  ///< bytes
  std::int64_t itemsize = 1;
  std::string_view format = "B";
  std::span<const std::int64_t> shape;
  std::span<const std::int64_t> strides;  ///< bytes
  bool readonly = false;
  bool is_opaque = false;  ///< take any format, as elements without numbers
};
View read(const BufferFacts& facts);

/// The fields of an `__array_interface__` (version 3) or `__cuda_array_interface__` dict.
struct InterfaceFacts {
  std::uintptr_t address = 0;
  std::string_view typestr;  ///< "<f4"
  std::span<const std::int64_t> shape;
  std::optional<std::span<const std::int64_t>> strides;  ///< in bytes; none: C order
  bool readonly = false;
  std::int32_t device_type = kDLCPU;
};
View read(const InterfaceFacts& facts);

/// PyArrayInterface, as defined in numpy/ndarraytypes.h (`__array_struct__`).
struct ArrayStruct {
  int two;
  int nd;
  char typekind;
  int itemsize;
  int flags;
  std::intptr_t* shape;
  std::intptr_t* strides;
  void* data;
  void* descr;
};
View read(const ArrayStruct& array);

}  // namespace dlbench::exchange
