#include "exchange/elements.hpp"

#include <cstring>
#include <string>

#include "exchange/layout.hpp"
#include "model/contains.hpp"

namespace dlbench::exchange {

Elements::Elements(std::uintptr_t address, std::span<const std::int64_t> shape,
                   std::optional<std::span<const std::int64_t>> strides, std::int64_t element_bytes)
    : address_(address),
      shape_(shape.begin(), shape.end()),
      element_bytes_(static_cast<std::size_t>(element_bytes)) {
  if (element_bytes <= 0) {
    throw ViewError("elements of " + std::to_string(element_bytes) + " bytes");
  }
  require_dimensions(static_cast<std::int64_t>(shape.size()));
  require_shape(shape, element_bytes);
  if (!strides) {
    strides_ = c_strides(shape, element_bytes);
  } else if (strides->size() != shape.size()) {
    throw ViewError(std::to_string(strides->size()) + " strides for " +
                    std::to_string(shape.size()) + " dimensions");
  } else {
    strides_.assign(strides->begin(), strides->end());
  }
  require_reach(address, shape_, strides_, element_bytes);
  if (contains(shape, 0)) return;
  bytes_ = element_bytes_;
  for (const std::int64_t extent : shape) bytes_ *= static_cast<std::uint64_t>(extent);
}

void Elements::pack(std::byte* to) const {
  if (bytes_ > 0) pack(address_, to, 0);
}

std::byte* Elements::pack(std::uintptr_t from, std::byte* to, std::size_t axis) const {
  if (axis == shape_.size()) {
    std::memcpy(to, memory_at(from), element_bytes_);
    return to + element_bytes_;
  }
  for (std::int64_t i = 0; i < shape_[axis]; ++i) {
    // Unsigned arithmetic wraps around like addresses.
    const auto step = static_cast<std::uint64_t>(strides_[axis]) * static_cast<std::uint64_t>(i);
    to = pack(from + step, to, axis + 1);
  }
  return to;
}

}  // namespace dlbench::exchange
