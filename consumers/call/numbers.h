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

/// The elements of an array that a function makes.
constexpr std::size_t kOutput = 256;

/// "a0", as in functions that are written in Python.
inline const char* parameter_name(std::size_t position) {
  static const char* const names[] = {"a0",  "a1",  "a2",  "a3",  "a4",  "a5",  "a6",
                                      "a7",  "a8",  "a9",  "a10", "a11", "a12", "a13",
                                      "a14", "a15", "a16", "a17", "a18", "a19"};
  return names[position];
}

/// The schema of a PyTorch operator: "NAME_2(Tensor a0, Tensor a1) -> ()".
inline std::string torch_schema(std::string name, std::size_t arrays, const char* more = "",
                                const char* result = "()") {
  std::string text = name + "_" + std::to_string(arrays) + "(";
  for (std::size_t i = 0; i < arrays; ++i)
    text += std::string(i > 0 ? ", " : "") + "Tensor " + parameter_name(i);
  if (arrays == 0 && *more != 0) more += 2;  // no ", " before the first
  return text + more + ") -> " + result;
}

}  // namespace dlbench::call
