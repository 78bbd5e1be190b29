#include <dlpack/dlpack.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "exchange/layout.hpp"
#include "exchange/number.hpp"
#include "exchange/restated.hpp"
#include "exchange/text.hpp"
#include "exchange/verdict.hpp"

namespace dlbench::exchange {
namespace {

void require_host(const View& view) {
  if (on_host(view.device)) return;
  throw ViewError("the host cannot read memory of device type " + std::to_string(view.device.type));
}

/// Iterates over two arrays of the same shape, row by row. A row is all trailing dimensions along
/// which both are compact.
class Walk {
 public:
  Walk(const View& expected, const View& found, bool compact_rows)
      : expected_(expected), found_(found), rows_(expected.shape.size()) {
    std::int64_t wanted_expected = expected.element_bytes();
    std::int64_t wanted_found = found.element_bytes();
    while (compact_rows && rows_ > 0) {
      const std::int64_t extent = expected.shape[rows_ - 1];
      const bool compact = extent == 1 || (expected.strides[rows_ - 1] == wanted_expected &&
                                           found.strides[rows_ - 1] == wanted_found);
      if (!compact) break;
      wanted_expected *= extent;
      wanted_found *= extent;
      row_elements_ *= extent;
      --rows_;
    }
    index_.resize(rows_);
  }

  std::int64_t row_elements() const { return row_elements_; }

  /// The addresses of an element of the current row.
  std::uintptr_t expected_at(std::int64_t element) const {
    return expected_.address +
           static_cast<std::uintptr_t>(expected_offset_ + element * expected_.element_bytes());
  }
  std::uintptr_t found_at(std::int64_t element) const {
    return found_.address +
           static_cast<std::uintptr_t>(found_offset_ + element * found_.element_bytes());
  }

  /// The index of an element of the current row, in C order over the whole array.
  std::size_t number_of(std::int64_t element) const {
    return static_cast<std::size_t>(row_ * row_elements_ + element);
  }

  std::string place(std::int64_t element) const {
    std::vector<std::int64_t> whole = index_;
    whole.resize(expected_.shape.size());
    for (std::size_t d = whole.size(); d-- > rows_;) {
      whole[d] = element % expected_.shape[d];
      element /= expected_.shape[d];
    }
    return "element " + tuple_text(whole);
  }

  bool next_row() {
    ++row_;
    for (std::size_t d = rows_; d-- > 0;) {
      const std::int64_t last = expected_.shape[d] - 1;
      if (index_[d] < last) {
        ++index_[d];
        expected_offset_ += expected_.strides[d];
        found_offset_ += found_.strides[d];
        return true;
      }
      index_[d] = 0;
      expected_offset_ -= expected_.strides[d] * last;
      found_offset_ -= found_.strides[d] * last;
    }
    return false;
  }

 private:
  const View& expected_;
  const View& found_;
  std::size_t rows_;
  std::int64_t row_elements_ = 1;
  std::int64_t row_ = 0;
  std::int64_t expected_offset_ = 0;
  std::int64_t found_offset_ = 0;
  std::vector<std::int64_t> index_;
};

std::string bytes_text(std::uintptr_t address, std::int64_t count) {
  constexpr std::array<char, 17> kDigits{"0123456789abcdef"};
  constexpr std::int64_t kMost = 16;
  std::string text = "bytes ";
  for (std::int64_t i = 0; i < std::min(count, kMost); ++i) {
    unsigned char byte = 0;
    std::memcpy(&byte, memory_at(address + static_cast<std::uintptr_t>(i)), 1);
    text += kDigits.at(byte >> 4);
    text += kDigits.at(byte & 15);
  }
  return text + (count > kMost ? "..." : "");
}

// Decodes the element at a host address, in either byte order.
Number element_at(std::uintptr_t address, const View& view) {
  if (!view.swapped) return number_at(address, view.dtype);
  const auto count = static_cast<std::size_t>(view.element_bytes());
  const std::size_t part = view.dtype.code == kDLComplex ? count / 2 : count;
  std::vector<unsigned char> bytes(count);
  std::memcpy(bytes.data(), memory_at(address), count);
  for (unsigned char* first = bytes.data(); first != bytes.data() + count; first += part) {
    std::reverse(first, first + part);
  }
  return number_at(reinterpret_cast<std::uintptr_t>(bytes.data()), view.dtype);
}

std::string element_text(std::uintptr_t address, const View& view) {
  if (!has_numbers(view.dtype)) return bytes_text(address, view.element_bytes());
  return to_string(element_at(address, view), view.dtype);
}

bool is_missing(Missing missing, std::size_t number) {
  return number < missing.size() && missing[number] != 0;
}

bool equal(std::uintptr_t expected_at, std::uintptr_t found_at, const View& expected,
           const View& found) {
  if (!has_numbers(expected.dtype) || !has_numbers(found.dtype)) return false;
  const Number wanted = element_at(expected_at, expected);
  const Number given = element_at(found_at, found);
  return expected.dtype == found.dtype ? same(wanted, given)
                                       : explained(wanted, given, found.dtype);
}

}  // namespace

std::string difference(const View& expected, const View& given, Missing missing) {
  require_host(expected);
  require_host(given);
  const View found = restated(expected, given);
  if (expected.shape != found.shape) {
    return "shape " + tuple_text(found.shape) + ", not " + tuple_text(expected.shape);
  }
  const bool have_numbers = has_numbers(expected.dtype) && has_numbers(found.dtype);
  const bool one_dtype = expected.dtype == found.dtype;
  // Equal bytes are equal values; different bytes of a dtype without numbers may be, too.
  const bool as_bytes =
      one_dtype || (!have_numbers && expected.element_bytes() == found.element_bytes());
  const auto require_comparable = [&](bool is_comparable) {
    if (is_comparable) return;
    throw UnknownFormatError("dtype " + to_string(found.dtype) + " cannot be compared with " +
                             to_string(expected.dtype));
  };
  require_comparable(as_bytes || have_numbers);
  if (expected.elements() == 0) return {};

  Walk walk(expected, found, as_bytes);
  const auto element_bytes = static_cast<std::size_t>(expected.element_bytes());
  const auto same_bytes = [&](std::int64_t element, std::int64_t count) {
    return as_bytes && expected.swapped == found.swapped &&
           std::memcmp(memory_at(walk.expected_at(element)), memory_at(walk.found_at(element)),
                       static_cast<std::size_t>(count) * element_bytes) == 0;
  };
  do {
    if (same_bytes(0, walk.row_elements())) continue;
    for (std::int64_t i = 0; i < walk.row_elements(); ++i) {
      if (is_missing(missing, walk.number_of(i))) continue;
      const std::uintptr_t a = walk.expected_at(i);
      const std::uintptr_t b = walk.found_at(i);
      if (same_bytes(i, 1) || equal(a, b, expected, found)) continue;
      require_comparable(one_dtype || have_numbers);
      return walk.place(i) + ": expected " + element_text(a, expected) + ", found " +
             element_text(b, found);
    }
  } while (walk.next_row());
  return {};
}

bool has_nan_for(Missing missing, const View& expected, const View& given) {
  const auto is_set = [](unsigned char byte) { return byte != 0; };
  if (std::none_of(missing.begin(), missing.end(), is_set)) return false;
  const View found = restated(expected, given);
  if (!on_host(found.device) || expected.shape != found.shape || expected.elements() == 0 ||
      !has_numbers(found.dtype)) {
    return false;
  }
  bool any = false;
  Walk walk(expected, found, false);
  do {
    if (!is_missing(missing, walk.number_of(0))) continue;
    const Number number = element_at(walk.found_at(0), found);
    if (number.integral || !std::isnan(number.re)) return false;
    any = true;
  } while (walk.next_row());
  return any;
}

}  // namespace dlbench::exchange
