#include "exchange/restated.hpp"

#include <dlpack/dlpack.h>

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

View bytes_as(const View& expected, View found) {
  found.dtype = expected.dtype;
  found.swapped = expected.swapped;
  found.shape = expected.shape;
  found.strides = c_strides(found.shape, found.element_bytes());
  return found;
}

}  // namespace

bool is_plain_bytes(const View& expected, const View& found) {
  const auto is_byte = [](Dtype dtype) {
    return (dtype.code == kDLUInt || dtype.code == kDLInt) && dtype.bits == 8 && dtype.lanes == 1;
  };
  return is_byte(found.dtype) && !is_byte(expected.dtype) && found.shape.size() == 1 &&
         found.bytes() == expected.bytes() && (found.shape[0] <= 1 || found.strides[0] == 1);
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
