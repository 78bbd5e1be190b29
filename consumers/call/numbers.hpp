#pragma once

#include <cstddef>
#include <utility>

namespace dlbench::call {

/// The numbers of arrays for which bindings of a fixed number of arguments have functions.
template <typename Visitor>
void each_number(Visitor visit) {
  const auto visit_all = [&]<std::size_t... number>(std::index_sequence<number...>) {
    (visit(std::make_index_sequence<number>()), ...);
  };
  visit_all(std::index_sequence<0, 1, 2, 4, 8, 14, 20>());
}

/// T, for the parameter of that position.
template <std::size_t, typename T>
using Each = T;

}  // namespace dlbench::call
