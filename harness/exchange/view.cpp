#include "exchange/view.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace dlbench::exchange {

std::int64_t View::elements() const {
  // An extent of 0 first: the product of the others may then overflow.
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::uint64_t View::bytes() const {
  return static_cast<std::uint64_t>(elements()) * static_cast<std::uint64_t>(element_bytes());
}

std::int64_t View::element_bytes() const {
  return (std::int64_t{dtype.bits} * dtype.lanes + 7) / 8;
}

}  // namespace dlbench::exchange
