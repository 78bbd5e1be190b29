#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlbench::exchange {

/// The elements of a foreign description of memory, which the constructor checks. Does not own the
/// memory.
class Elements {
 public:
  /// `strides` are in bytes; without strides the order is C. Throws ViewError for impossible sizes.
  Elements(std::uintptr_t address, std::span<const std::int64_t> shape,
           std::optional<std::span<const std::int64_t>> strides, std::int64_t element_bytes);

  std::uint64_t bytes() const { return bytes_; }

  /// Copies the elements in C order, without gaps, into a buffer of `bytes()` bytes. Reads the
  /// described memory.
  void pack(std::byte* to) const;

 private:
  std::uintptr_t address_;
  std::vector<std::int64_t> shape_, strides_;
  std::size_t element_bytes_;
  std::uint64_t bytes_ = 0;

  std::byte* pack(std::uintptr_t from, std::byte* to, std::size_t axis) const;
};

}  // namespace dlbench::exchange
