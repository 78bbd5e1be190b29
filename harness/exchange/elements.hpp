#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace dlbench::exchange {

/// Where the elements of a foreign description lie, checked before anything is computed from it.
class Elements {
 public:
  /// `strides` are bytes; none is C order. Throws ViewError for what no memory can hold.
  Elements(std::uintptr_t address, std::span<const std::int64_t> shape,
           std::optional<std::span<const std::int64_t>> strides, std::int64_t element_bytes);

  std::uint64_t bytes() const { return bytes_; }

  /// Copies them in C order, without gaps, to where there is room for `bytes()`. Reads the memory
  /// that was described.
  void pack(std::byte* to) const;

 private:
  std::uintptr_t address_;
  std::vector<std::int64_t> shape_, strides_;
  std::size_t element_bytes_;
  std::uint64_t bytes_ = 0;

  std::byte* pack(std::uintptr_t from, std::byte* to, std::size_t axis) const;
};

}  // namespace dlbench::exchange
