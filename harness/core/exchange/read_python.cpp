#include <optional>

#include "exchange/dtype.hpp"
#include "exchange/layout.hpp"
#include "exchange/read.hpp"

namespace dlbench::exchange {
namespace {

using Extents = std::span<const std::int64_t>;

/// The view for the three protocols of this file. Strides are in bytes; without strides the order
/// is C.
View laid_out(std::uintptr_t address, Dtype dtype, Extents shape, std::optional<Extents> strides,
              bool readonly) {
  require_dimensions(static_cast<std::int64_t>(shape.size()));
  if (strides && strides->size() != shape.size()) {
    throw ViewError(std::to_string(strides->size()) + " strides for " +
                    std::to_string(shape.size()) + " dimensions");
  }
  View view;
  view.address = address;
  view.dtype = dtype;
  view.readonly = readonly;
  view.shape.assign(shape.begin(), shape.end());
  require_shape(view.shape, view.element_bytes());
  if (strides) {
    view.strides.assign(strides->begin(), strides->end());
  } else {
    view.strides = c_strides(shape, view.element_bytes());
  }
  require_reach(view);
  return view;
}

}  // namespace

View read(const BufferFacts& facts) {
  const auto strides = facts.strides.empty() ? std::nullopt : std::optional(facts.strides);
  const auto lanes = static_cast<std::uint16_t>(facts.itemsize);
  const bool is_opaque = facts.is_opaque && lanes > 0 && lanes == facts.itemsize;
  const Dtype dtype = is_opaque ? Dtype{kDLOpaqueHandle, 8, lanes}
                                : dtype_from_format(facts.format, facts.itemsize);
  View view = laid_out(facts.address, dtype, facts.shape, strides, facts.readonly);
  if (facts.length < 0 || view.bytes() != static_cast<std::uint64_t>(facts.length)) {
    throw ViewError("the buffer is " + std::to_string(facts.length) + " bytes long, its shape " +
                    std::to_string(view.bytes()));
  }
  return view;
}

View read(const InterfaceFacts& facts) {
  View view = laid_out(facts.address, dtype_from_typestr(facts.typestr), facts.shape, facts.strides,
                       facts.readonly);
  view.device.type = facts.device_type;
  return view;
}

View read(const ArrayStruct& array) {
  // From numpy/ndarraytypes.h.
  constexpr int kNotSwapped = 0x200;
  constexpr int kWriteable = 0x400;
  if (array.two != 2) throw ViewError("`two` is " + std::to_string(array.two) + ", not 2");
  require_dimensions(array.nd);
  const auto nd = static_cast<std::size_t>(array.nd);
  if (nd > 0 && array.shape == nullptr) throw ViewError("shape is a null pointer");
  const Dtype dtype = dtype_from_kind(array.typekind, array.itemsize);
  if (array.itemsize > 1 && (array.flags & kNotSwapped) == 0) {
    throw ViewError("the array struct's elements are byte-swapped");
  }
  std::vector<std::int64_t> shape;
  if (nd > 0) shape.assign(array.shape, array.shape + nd);
  std::vector<std::int64_t> strides;
  if (nd > 0 && array.strides != nullptr) strides.assign(array.strides, array.strides + nd);
  return laid_out(reinterpret_cast<std::uintptr_t>(array.data), dtype, shape,
                  strides.empty() ? std::nullopt : std::optional<Extents>(strides),
                  (array.flags & kWriteable) == 0);
}

}  // namespace dlbench::exchange
