#include "exchange/restated.hpp"

#include <dlpack/dlpack.h>

#include <cstring>

#include "exchange/layout.hpp"

namespace dlbench::exchange {
namespace {

struct Dimension {
  std::int64_t extent;
  std::int64_t stride;
};

std::vector<Dimension> without_ones(const View& view) {
  std::vector<Dimension> dimensions;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    if (view.shape[d] != 1) dimensions.push_back({view.shape[d], view.strides[d]});
  }
  return dimensions;
}

bool lie_as(const View& expected, const View& found) {
  const Extent extent = extent_of(expected);
  return extent.bytes() == found.bytes() && extent.begin == expected.address &&
         on_host(expected.device) && on_host(found.device) &&
         std::memcmp(memory_at(extent.begin), memory_at(found.address), extent.bytes()) == 0;
}

View bytes_as(const View& expected, View found) {
  const std::vector<std::int64_t> in_order = c_strides(expected.shape, expected.element_bytes());
  const bool as_they_lie = expected.strides != in_order && lie_as(expected, found);
  found.dtype = expected.dtype;
  found.swapped = expected.swapped;
  found.untyped = expected.untyped;
  found.shape = expected.shape;
  found.strides = as_they_lie ? expected.strides : in_order;
  return found;
}

}  // namespace

bool is_plain_bytes(const View& expected, const View& found) {
  return found.untyped && found.shape.size() == 1 && found.bytes() == expected.bytes() &&
         (found.shape[0] <= 1 || found.strides[0] == 1);
}

View without_dtype(const View& view) {
  // Without elements no stride is used, and libraries set others.
  if (view.elements() > 0 && view.strides != c_strides(view.shape, view.element_bytes()))
    return view;
  View bytes = view;
  bytes.dtype = {kDLUInt, 8, 1};
  bytes.shape = {static_cast<std::int64_t>(view.bytes())};
  bytes.strides = {1};
  bytes.swapped = false;
  bytes.untyped = true;
  return bytes;
}

View restated(const View& expected, const View& found) {
  if (is_plain_bytes(expected, found)) return bytes_as(expected, found);
  if (expected.shape == found.shape) return found;
  const std::vector<Dimension> dimensions = without_ones(found);
  View same = found;
  same.shape = expected.shape;
  same.strides.assign(expected.shape.size(), found.element_bytes());
  std::size_t next = 0;
  for (std::size_t d = 0; d < expected.shape.size(); ++d) {
    if (expected.shape[d] == 1) continue;
    if (next == dimensions.size() || dimensions[next].extent != expected.shape[d]) return found;
    same.strides[d] = dimensions[next++].stride;
  }
  return next == dimensions.size() ? same : found;
}

}  // namespace dlbench::exchange
