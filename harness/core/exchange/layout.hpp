#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "exchange/view.hpp"

namespace dlbench::exchange {

/// Checks of a foreign description before it is used. All throw ViewError.

/// NumPy's limit. A larger number means that a struct is invalid.
inline constexpr std::int64_t kMostDimensions = 64;
void require_dimensions(std::int64_t dimensions);

/// Requires that no extent is negative and that the numbers of elements and bytes fit an int64.
void require_shape(std::span<const std::int64_t> shape, std::int64_t element_bytes);

/// The strides in bytes of a compact row-major array.
std::vector<std::int64_t> c_strides(std::span<const std::int64_t> shape,
                                    std::int64_t element_bytes);

/// Converts strides in elements to bytes. A stride along a dimension of at most one element is
/// unused; it becomes 0 if it does not fit.
std::vector<std::int64_t> byte_strides(std::span<const std::int64_t> strides,
                                       std::span<const std::int64_t> shape,
                                       std::int64_t element_bytes);

/// Requires that all elements have valid addresses, none of them null. `strides` are in bytes, one
/// for each dimension.
void require_reach(std::uintptr_t address, std::span<const std::int64_t> shape,
                   std::span<const std::int64_t> strides, std::int64_t element_bytes);
void require_reach(const View& view);

/// The address range of a view's elements, from the lowest byte to past the highest. Empty if it
/// has no elements.
struct Extent {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;

  std::uint64_t bytes() const { return end - begin; }
  bool holds(std::uintptr_t address) const { return begin <= address && address < end; }
  bool overlaps(const Extent& other) const { return begin < other.end && other.begin < end; }
};
Extent extent_of(const View& view);

/// Can the host read memory of this device through its address?
bool on_host(const Device& device);

/// Converts a described address to a pointer.
inline void* memory_at(std::uintptr_t address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace dlbench::exchange
