#pragma once

#include <algorithm>
#include <iterator>
#include <utility>

namespace dlbench {

template <typename Range, typename Value>
bool contains(const Range& range, const Value& value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

/// Appends the value unless the range contains it.
template <typename Range, typename Value>
void add_new(Range& range, Value&& value) {
  if (!contains(range, value)) range.push_back(std::forward<Value>(value));
}

}  // namespace dlbench
