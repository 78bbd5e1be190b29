#include "plan/plan.hpp"

namespace dlbench::plan {

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases{
      {.name = "f32"},
      {.name = "f64", .dtype = "float64"},
      {.name = "i32", .dtype = "int32"},
      {.name = "i64", .dtype = "int64"},
      {.name = "u8", .dtype = "uint8"},
      {.name = "bool", .dtype = "bool"},
      {.name = "c64", .dtype = "complex64"},
      {.name = "f32-unaligned", .offset = 4},
      {.name = "f32-strided", .step = 2},
      {.name = "f32-readonly", .readonly = true},
  };
  return cases;
}

std::uint64_t element_bytes(const Case& array_case) {
  const std::string& dtype = array_case.dtype;
  if (dtype == "bool" || dtype == "uint8") return 1;
  if (dtype == "float64" || dtype == "int64" || dtype == "complex64") return 8;
  return 4;
}

}  // namespace dlbench::plan
