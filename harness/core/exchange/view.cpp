#include "exchange/view.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "model/contains.hpp"

namespace dlbench::exchange {

std::int64_t View::elements() const {
  // Checked first, because the product of the other extents may overflow.
  if (contains(shape, 0)) return 0;
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::uint64_t View::bytes() const {
  return static_cast<std::uint64_t>(elements()) * static_cast<std::uint64_t>(element_bytes());
}

std::int64_t View::element_bytes() const {
  return (std::int64_t{dtype.bits} * dtype.lanes + 7) / 8;
}

}  // namespace dlbench::exchange
