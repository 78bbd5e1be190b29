#pragma once

#include <cstddef>
#include <string>
#include <utility>

/// The numbers of arrays for which bindings of a fixed number of arguments have functions; as in
/// dlbench/adapter.py.
#define DLBENCH_CALL_NUMBERS(DO) DO(0) DO(1) DO(2) DO(4) DO(8) DO(14) DO(20)

namespace dlbench::call {

/// Calls visit(index sequence of that length) for each of the numbers.
template <typename Visitor>
void each_number(Visitor visit) {
#define DLBENCH_VISIT(n) visit(std::make_index_sequence<n>());
  DLBENCH_CALL_NUMBERS(DLBENCH_VISIT)
#undef DLBENCH_VISIT
}

/// T, for the parameter of that position.
template <std::size_t, typename T>
using Each = T;

/// The schema of a PyTorch operator: "NAME_2(Tensor a0, Tensor a1) -> ()".
inline std::string torch_schema(std::string name, std::size_t arrays) {
  std::string text = name + "_" + std::to_string(arrays) + "(";
  for (std::size_t i = 0; i < arrays; ++i)
    text += (i > 0 ? ", Tensor a" : "Tensor a") + std::to_string(i);
  return text + ") -> ()";
}

}  // namespace dlbench::call
