#include "exchange/layout.hpp"

#include <dlpack/dlpack.h>

#include <algorithm>
#include <limits>

#include "exchange/text.hpp"
#include "model/contains.hpp"

namespace dlbench::exchange {
namespace {

std::int64_t product(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_mul_overflow(a, b, &result)) throw ViewError(std::string(what) + " overflow");
  return result;
}

std::int64_t sum(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t result = 0;
  if (__builtin_add_overflow(a, b, &result)) throw ViewError(std::string(what) + " overflow");
  return result;
}

}  // namespace

void require_dimensions(std::int64_t dimensions) {
  if (dimensions < 0 || dimensions > kMostDimensions) {
    throw ViewError("ndim is " + std::to_string(dimensions) + "; allowed: 0 to 64");
  }
}

void require_shape(std::span<const std::int64_t> shape, std::int64_t element_bytes) {
  if (std::any_of(shape.begin(), shape.end(), [](std::int64_t extent) { return extent < 0; })) {
    throw ViewError("negative shape " + tuple_text(shape));
  }
  if (contains(shape, 0)) return;
  std::int64_t bytes = element_bytes;
  for (const std::int64_t extent : shape) bytes = product(bytes, extent, "the shape's bytes");
}

std::vector<std::int64_t> c_strides(std::span<const std::int64_t> shape,
                                    std::int64_t element_bytes) {
  std::vector<std::int64_t> strides(shape.size());
  std::int64_t stride = element_bytes;
  for (std::size_t d = shape.size(); d-- > 0;) {
    strides[d] = stride;
    if (d > 0) stride = product(stride, std::max<std::int64_t>(shape[d], 1), "compact strides");
  }
  return strides;
}

std::vector<std::int64_t> byte_strides(std::span<const std::int64_t> strides,
                                       std::span<const std::int64_t> shape,
                                       std::int64_t element_bytes) {
  std::vector<std::int64_t> bytes(strides.size());
  const bool empty = contains(shape, 0);
  for (std::size_t d = 0; d < strides.size(); ++d) {
    if (__builtin_mul_overflow(strides[d], element_bytes, &bytes[d])) {
      if (shape[d] > 1 && !empty) throw ViewError("strides in bytes overflow");
      bytes[d] = 0;
    }
  }
  return bytes;
}

void require_reach(std::uintptr_t address, std::span<const std::int64_t> shape,
                   std::span<const std::int64_t> strides, std::int64_t element_bytes) {
  if (contains(shape, 0)) return;
  if (address == 0) throw ViewError("the pointer is null, but the array has elements");
  std::int64_t low = 0;
  std::int64_t high = element_bytes;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const std::int64_t span = product(strides[d], shape[d] - 1, "strides times shape");
    std::int64_t& end = span < 0 ? low : high;
    end = sum(end, span, "strides times shape");
  }
  // Negated as unsigned, because -INT64_MIN overflows.
  const auto below = 0 - static_cast<std::uint64_t>(low);
  const auto above = static_cast<std::uint64_t>(high);
  if (below >= address || above > std::numeric_limits<std::uintptr_t>::max() - address) {
    throw ViewError("strides " + tuple_text(strides) + " leave the address space");
  }
}

void require_reach(const View& view) {
  require_reach(view.address, view.shape, view.strides, view.element_bytes());
}

Extent extent_of(const View& view) {
  if (view.elements() == 0) return {};
  Extent extent{view.address, view.address + static_cast<std::uintptr_t>(view.element_bytes())};
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    const std::int64_t reach = view.strides[d] * (view.shape[d] - 1);
    (reach < 0 ? extent.begin : extent.end) += static_cast<std::uintptr_t>(reach);
  }
  return extent;
}

bool on_host(const Device& device) {
  return device.type == kDLCPU || device.type == kDLCUDAHost || device.type == kDLROCMHost ||
         device.type == kDLCUDAManaged;
}

}  // namespace dlbench::exchange
