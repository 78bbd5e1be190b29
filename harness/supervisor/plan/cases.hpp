#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace dlbench::plan {

/// A kind of array: one value on each axis of `case_axes`. The cell's `bytes` determines the number
/// of elements.
struct Case {
  /// The dtype's word, then the word of each other axis that has not its first value:
  /// "f32-2d", "c64-fortran-readonly".
  std::string name;
  std::string dtype = "float32";  ///< NumPy's name
  std::string dims = "1d";        ///< the axis `shape`
  std::string layout = "c";
  std::string storage = "usual";
  std::uint64_t offset = 0;  ///< bytes above an address aligned to `align`; 0: any address
  std::uint64_t align = 256;
  bool readonly = false;
  std::string special = "";  ///< a property that only some libraries have: "swapped", "grad", ...

  bool operator==(const Case&) const = default;
};

/// The case that other cases are compared with: a plain array that no library needs to copy.
inline constexpr const char* kBaseline = "f32";

struct AxisValue {
  std::string word;
  std::string meaning;  ///< for `dlbench help`
};

struct CaseAxis {
  std::string name;               ///< dtype, shape, layout, storage, property
  std::vector<AxisValue> values;  ///< the first one is the usual one, absent from names
};

/// The axes in the order of the words of a name.
const std::vector<CaseAxis>& case_axes();

/// Arrays that only some libraries have. Their adapters make them of many cases, so they are no
/// value of an axis.
struct LibraryKind {
  std::string word;
  std::string meaning;
  std::string producers;
};
const std::vector<LibraryKind>& library_kinds();

/// The cases of `--cases all`, in the order in which they are printed: kBaseline, those that differ
/// from it on one axis, then as few as hold each possible pair of values of two axes.
const std::vector<Case>& all_cases();

/// The case of a name, whatever the order of its words. Throws UsageError, also for a combination
/// that no array can have.
Case case_named(const std::string& name);

/// Does `case_named` know the name?
bool is_case(const std::string& name);

/// The cases of the words of `--cases`, which were separated by commas: names, "all", and
/// selections such as "dtype=bf16,f64 layout=all", which are combined. Throws UsageError.
std::vector<Case> cases_of(const std::vector<std::string>& words);

/// A pattern of `--filter` whose names of cases have their words in the usual order.
std::string with_usual_names(const std::string& pattern);

/// Size of one element of a case's dtype.
std::uint64_t element_bytes(const Case& array_case);

/// The sizes of the cells of a case. A case with zero, one or a huge number of elements has a
/// single size, whatever was requested.
std::vector<std::uint64_t> sizes_of(const Case& array_case,
                                    const std::vector<std::uint64_t>& requested);

}  // namespace dlbench::plan
