#include <dlpack/dlpack.h>

#include <optional>

#include "exchange/restated.hpp"
#include "exchange/verdict.hpp"

namespace dlbench::exchange {
namespace {

enum class Kind { signed_integer, unsigned_integer, real, complex, boolean, other };

Kind kind(Dtype dtype) {
  if (dtype.code == kDLInt) return Kind::signed_integer;
  if (dtype.code == kDLUInt) return Kind::unsigned_integer;
  if (dtype.code == kDLComplex) return Kind::complex;
  if (dtype.code == kDLBool) return Kind::boolean;
  const bool real = dtype.code == kDLFloat || dtype.code == kDLBfloat ||
                    (dtype.code >= kDLFloat8_e3m4 && dtype.code <= kDLFloat4_e2m1fn);
  return real ? Kind::real : Kind::other;
}

bool coarser(Dtype expected, Dtype found) {
  return kind(expected) == kind(found) && kind(found) != Kind::other &&
         expected.lanes == found.lanes && found.bits < expected.bits;
}

/// The stride in elements, so that a changed dtype is not also a changed layout.
std::optional<std::int64_t> element_stride(const View& view, std::size_t d) {
  if (view.strides[d] % view.element_bytes() != 0) return std::nullopt;
  return view.strides[d] / view.element_bytes();
}

bool same_stride(const View& expected, const View& found, std::size_t d) {
  if (expected.element_bytes() == found.element_bytes()) {
    return expected.strides[d] == found.strides[d];
  }
  const auto a = element_stride(expected, d);
  return a && a == element_stride(found, d);
}

bool same_layout(const View& expected, const View& found) {
  if (expected.shape != found.shape) return false;
  if (expected.elements() == 0) return true;
  for (std::size_t d = 0; d < expected.shape.size(); ++d) {
    if (expected.shape[d] > 1 && !same_stride(expected, found, d)) return false;
  }
  return true;
}

}  // namespace

std::vector<std::string> changed(const View& expected, const View& found) {
  std::vector<std::string> words;
  // Plain bytes keep the values and lose only the dtype; bytes without a dtype have none to lose.
  const bool are_bytes = is_plain_bytes(expected, found);
  if (expected.dtype != found.dtype && !(are_bytes && expected.untyped)) {
    const bool fewer_bits = coarser(expected.dtype, found.dtype) && !are_bytes;
    words.emplace_back(fewer_bits ? "precision" : "dtype");
  }
  const View same = restated(expected, found);
  const bool reshaped = expected.shape != found.shape && expected.shape == same.shape;
  if (reshaped && !are_bytes) words.emplace_back("shape");
  if (!same_layout(expected, same)) words.emplace_back("layout");
  return words;
}

}  // namespace dlbench::exchange
