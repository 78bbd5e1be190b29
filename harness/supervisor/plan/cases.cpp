#include <algorithm>

#include "model/contains.hpp"
#include "model/error.hpp"
#include "model/names.hpp"
#include "supervisor/plan/plan.hpp"

namespace dlbench::plan {

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases{
      {.name = "f32", .group = "dtypes"},
      {.name = "f64", .group = "dtypes", .dtype = "float64"},
      {.name = "f16", .group = "dtypes", .dtype = "float16"},
      {.name = "bf16", .group = "dtypes", .dtype = "bfloat16"},
      {.name = "f8e4m3", .group = "dtypes", .dtype = "float8_e4m3fn"},
      {.name = "f8e5m2", .group = "dtypes", .dtype = "float8_e5m2"},
      {.name = "i8", .group = "dtypes", .dtype = "int8"},
      {.name = "i16", .group = "dtypes", .dtype = "int16"},
      {.name = "i32", .group = "dtypes", .dtype = "int32"},
      {.name = "i64", .group = "dtypes", .dtype = "int64"},
      {.name = "u8", .group = "dtypes", .dtype = "uint8"},
      {.name = "u16", .group = "dtypes", .dtype = "uint16"},
      {.name = "u32", .group = "dtypes", .dtype = "uint32"},
      {.name = "u64", .group = "dtypes", .dtype = "uint64"},
      {.name = "bool", .group = "dtypes", .dtype = "bool"},
      {.name = "c64", .group = "dtypes", .dtype = "complex64"},
      {.name = "c128", .group = "dtypes", .dtype = "complex128"},
      {.name = "f32-2d", .group = "layouts", .layout = "grid"},
      {.name = "f32-fortran", .group = "layouts", .layout = "fortran"},
      {.name = "f32-strided", .group = "layouts", .layout = "strided"},
      {.name = "f32-reversed", .group = "layouts", .layout = "reversed"},
      {.name = "f32-broadcast", .group = "layouts", .layout = "broadcast"},
      {.name = "f32-ones", .group = "layouts", .layout = "ones"},
      {.name = "f32-0d", .group = "layouts", .layout = "scalar"},
      {.name = "f32-empty", .group = "layouts", .layout = "empty"},
      {.name = "u8-align1", .group = "alignments", .dtype = "uint8", .offset = 1},
      {.name = "f32-unaligned", .group = "alignments", .offset = 4},
      {.name = "f32-align8", .group = "alignments", .offset = 8},
      {.name = "f32-align16", .group = "alignments", .offset = 16},
      {.name = "f32-align32", .group = "alignments", .offset = 32},
      {.name = "f32-align64", .group = "alignments", .offset = 64},
      {.name = "f32-align128", .group = "alignments", .offset = 128},
      {.name = "f32-readonly", .group = "flags", .readonly = true},
      {.name = "f32-swapped", .group = "flags", .special = "swapped"},
      {.name = "f32-grad", .group = "flags", .special = "grad"},
      {.name = "f32-pinned", .group = "flags", .special = "pinned"},
      {.name = "f32-managed", .group = "flags", .special = "managed"},
      {.name = "f32-nulls", .group = "flags", .special = "nulls"},
  };
  return cases;
}

const Case& case_named(const std::string& name) {
  const std::vector<Case>& cases = all_cases();
  const auto found =
      std::find_if(cases.begin(), cases.end(), [&](const Case& one) { return one.name == name; });
  if (found == cases.end()) require_known("case", name, case_words());
  if (found == cases.end()) throw UsageError("'" + name + "' is a group of cases, not a case");
  return *found;
}

std::vector<std::string> case_words() {
  std::vector<std::string> words;
  for (const Case& one : all_cases()) words.push_back(one.name);
  for (const Case& one : all_cases()) add_new(words, one.group);
  return words;
}

std::uint64_t element_bytes(const Case& array_case) {
  const std::string& dtype = array_case.dtype;
  if (dtype == "bool" || dtype.ends_with("int8") || dtype.starts_with("float8")) return 1;
  if (dtype.ends_with("16")) return 2;
  if (dtype == "complex128") return 16;
  if (dtype.ends_with("64")) return 8;
  return 4;
}

std::vector<std::uint64_t> sizes_of(const Case& array_case,
                                    const std::vector<std::uint64_t>& requested) {
  if (array_case.layout == "empty") return {0};
  if (array_case.layout == "scalar") return {element_bytes(array_case)};
  return requested;
}

}  // namespace dlbench::plan
