#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace dlbench::exchange {

/// The type of one element, as DLDataType of dlpack.h v1.3: `code` is a DLDataTypeCode.
struct Dtype {
  std::uint8_t code = 2;
  std::uint8_t bits = 32;
  std::uint16_t lanes = 1;

  auto operator<=>(const Dtype&) const = default;
};

/// NumPy's name for it ("float32", "bfloat16", "bool", "complex64"), or "code2bits24lanes1".
std::string to_string(Dtype dtype);

/// The inverse, for the names that case tables use. Throws ViewError.
Dtype dtype_from_name(const std::string& name);

struct Device {
  std::int32_t type = 1;  ///< DLDeviceType; unknown codes are kept as they are
  std::int32_t id = 0;

  auto operator<=>(const Device&) const = default;
};

/// The description of an array in memory by any protocol. It does not own the memory.
struct View {
  std::uintptr_t address = 0;  ///< of the first element (byte_offset applied)
  Dtype dtype;
  Device device;
  std::vector<std::int64_t> shape;
  std::vector<std::int64_t> strides;  ///< in bytes, one for each dimension; never omitted
  bool readonly = false;
  /// The elements have the other byte order than this machine's.
  bool swapped = false;
  /// Bytes of an object that has no dtype: a bytearray, a mapped file, an Arrow buffer.
  bool untyped = false;

  auto operator<=>(const View&) const = default;

  std::int64_t elements() const;       ///< 1 for 0-d
  std::uint64_t bytes() const;         ///< elements * element size
  std::int64_t element_bytes() const;  ///< bits * lanes rounded up to bytes
};

/// Thrown for an impossible description of memory: invalid ndim, negative shape, overflow, a null
/// pointer with elements, an unknown format. The text describes the fault.
struct ViewError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A description in a notation that dlbench does not read. The address and the shape may be right.
struct UnknownFormatError : ViewError {
  using ViewError::ViewError;
};

}  // namespace dlbench::exchange
