#include "supervisor/plan/cases.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <regex>
#include <sstream>
#include <string_view>
#include <unordered_set>

#include "model/contains.hpp"
#include "model/error.hpp"
#include "model/names.hpp"

namespace dlbench::plan {
namespace {

struct CaseDtype {
  std::string_view word;
  std::string_view name;  ///< NumPy's, or ml_dtypes'
  std::uint64_t bytes;
  /// b(ool), i(nteger), f(loat), c(omplex), m for a dtype of ml_dtypes, or n for no number
  char kind;
  bool is_padded = false;  ///< one element a byte, of fewer bits
};

constexpr std::array kDtypes{
    CaseDtype{"f32", "float32", 4, 'f'},
    CaseDtype{"f64", "float64", 8, 'f'},
    CaseDtype{"f16", "float16", 2, 'f'},
    CaseDtype{"bf16", "bfloat16", 2, 'm'},
    CaseDtype{"f8e3m4", "float8_e3m4", 1, 'm'},
    CaseDtype{"f8e4m3", "float8_e4m3", 1, 'm'},
    CaseDtype{"f8e4m3b11fnuz", "float8_e4m3b11fnuz", 1, 'm'},
    CaseDtype{"f8e4m3fn", "float8_e4m3fn", 1, 'm'},
    CaseDtype{"f8e4m3fnuz", "float8_e4m3fnuz", 1, 'm'},
    CaseDtype{"f8e5m2", "float8_e5m2", 1, 'm'},
    CaseDtype{"f8e5m2fnuz", "float8_e5m2fnuz", 1, 'm'},
    CaseDtype{"f8e8m0fnu", "float8_e8m0fnu", 1, 'm'},
    CaseDtype{"f6e2m3fn", "float6_e2m3fn", 1, 'm', true},
    CaseDtype{"f6e3m2fn", "float6_e3m2fn", 1, 'm', true},
    CaseDtype{"f4e2m1fn", "float4_e2m1fn", 1, 'm', true},
    CaseDtype{"i4", "int4", 1, 'm', true},
    CaseDtype{"u4", "uint4", 1, 'm', true},
    CaseDtype{"i8", "int8", 1, 'i'},
    CaseDtype{"i16", "int16", 2, 'i'},
    CaseDtype{"i32", "int32", 4, 'i'},
    CaseDtype{"i64", "int64", 8, 'i'},
    CaseDtype{"u8", "uint8", 1, 'i'},
    CaseDtype{"u16", "uint16", 2, 'i'},
    CaseDtype{"u32", "uint32", 4, 'i'},
    CaseDtype{"u64", "uint64", 8, 'i'},
    CaseDtype{"bool", "bool", 1, 'b'},
    CaseDtype{"c32", "complex32", 4, 'm'},
    CaseDtype{"c64", "complex64", 8, 'c'},
    CaseDtype{"c128", "complex128", 16, 'c'},
    CaseDtype{"dt64", "datetime64[ns]", 8, 'n'},
    CaseDtype{"td64", "timedelta64[ns]", 8, 'n'},
    CaseDtype{"bytes", "S8", 8, 'n'},
    CaseDtype{"str", "U8", 32, 'n'},
    CaseDtype{"record", "f4,i4,f8", 16, 'n'},
    CaseDtype{"object", "object", 8, 'n'},
    CaseDtype{"vstr", "StringDType()", 16, 'n'},
};

constexpr const char* kPadded =
    ", one element a byte as in ml_dtypes: an array that packs them is not this case";

/// A shape that copies of several GB make too slow for a sweep.
constexpr const char* kHuge = "huge";
constexpr std::uint64_t kHugeElements = (std::uint64_t{1} << 31) + 4096;

enum Axis : std::size_t { kDtype, kShape, kLayout, kStorage, kProperty, kAxes };

/// A word that selects all values of an axis that begin with the prefix.
struct Group {
  std::string_view word, prefix;
};
constexpr std::array kGroups{Group{"f8", "f8e"}, Group{"f6", "f6e"}, Group{"align", "align"}};

/// A value of each axis, as an index into its values.
using Point = std::array<std::size_t, kAxes>;

std::vector<CaseAxis> make_axes() {
  std::vector<CaseAxis> axes{
      {"dtype", {}},
      {"shape",
       {{"1d", "one dimension"},
        {"2d", "two dimensions"},
        {"0d", "one element without dimensions"},
        {"9d", "nine dimensions, five of size 1"},
        {"33d", "33 dimensions, 30 of size 1"},
        {"64d",
         "64 dimensions, 61 of size 1: as many as NumPy has, which makes the content of each case; "
         "dlbench check exports 65 (import.dimensions)"},
        {"ones", "one dimension between two of size 1 with odd strides"},
        {"empty", "one dimension without elements"},
        {"0xn", "two dimensions, no rows"},
        {"nx0", "two dimensions, no columns"},
        {"1x8x0x128", "four dimensions, one of size 0"},
        {kHuge,
         "one dimension of 2^31 + 4096 elements of a byte, zeros but for the first and last; only "
         "where it is named"}}},
      {"layout",
       {{"c", "in C order"},
        {"fortran", "in Fortran order"},
        {"strided", "every second element"},
        {"reversed", "in reverse order"},
        {"broadcast", "each row the same memory"},
        {"windows", "each row one element further in the same memory"},
        {"odd", "a stride that is no multiple of the element's size"}}},
      {"storage",
       {{"usual",
         "as users have it: in NumPy's memory 16 bytes above a multiple of 64, where np.empty "
         "places large arrays, or as the library allocates it"},
        {"own", "in memory that the library allocated"},
        {"view",
         "a slice of an array that the library allocated, from its fourth element, row and "
         "column"}}},
      {"property",
       {{"plain", "of the machine's byte order, in ordinary memory, may be written to"},
        {"readonly", "read-only"},
        {"swapped", "in the other byte order"},
        {"grad", "with a gradient"},
        {"conj", "conjugated lazily: the memory holds the conjugates"},
        {"neg", "negated lazily: the memory holds the negatives"},
        {"pinned", "in pinned memory"},
        {"managed", "in managed memory"},
        {"nulls", "with missing values"}}}};
  for (const CaseDtype& dtype : kDtypes) {
    axes[kDtype].values.push_back(
        {std::string(dtype.word), std::string(dtype.name) + (dtype.is_padded ? kPadded : "")});
  }
  for (const int offset : {1, 2, 4, 8, 16, 32, 64, 128}) {
    const std::string bytes = std::to_string(offset);
    axes[kStorage].values.push_back(
        {"align" + bytes, "at an address " + bytes + " above a multiple of 256"});
  }
  return axes;
}

void require_no_kind(const std::string& word, const std::string& where) {
  for (const LibraryKind& kind : library_kinds()) {
    if (kind.word != word) continue;
    throw UsageError(where + "'" + word + "' is no value of an axis, but an array of a library, " +
                     kind.meaning + ": --producers " + kind.producers);
  }
}

const std::string& word(std::size_t axis, const Point& point) {
  return case_axes()[axis].values[point[axis]].word;
}

/// Layouts that one dimension cannot have: the axis `shape` has another usual value for them.
bool has_rows(std::string_view layout) {
  return layout == "fortran" || layout == "broadcast" || layout == "windows";
}

std::size_t usual_shape(const Point& point) {
  return has_rows(word(kLayout, point)) ? 1 : 0;
}

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_elements(std::string_view shape) {
  return !is_one_of(shape, {"empty", "0xn", "nx0", "1x8x0x128"});
}

/// Is the storage "alignN"?
bool is_offset(const std::string& storage) {
  return storage.starts_with("align");
}

/// Why dlbench makes no such array; empty if it does.
std::string why_not_combined(const Point& point) {
  const CaseDtype& dtype = kDtypes.at(point[kDtype]);
  const std::string &shape = word(kShape, point), &layout = word(kLayout, point),
                    &storage = word(kStorage, point), &property = word(kProperty, point);
  const auto conflict = [](const std::string& one, const std::string& other) {
    return one + " and " + other + " are not combined";
  };
  const bool is_line = shape == "1d", is_grid = shape == "2d";
  const bool fits =
      layout == "c" || (has_rows(layout) ? is_grid : is_line || (is_grid && layout != "odd"));
  if (!fits) return conflict(layout, shape);
  if (shape == kHuge && dtype.bytes > 1) return conflict(shape, std::string(dtype.word));
  if (shape == kHuge && point[kStorage] != 0) return conflict(shape, storage);
  // Every second byte is the layout "strided".
  if (layout == "odd" && dtype.bytes == 1) return conflict(layout, std::string(dtype.word));
  // NumPy places no variable strings in given memory.
  const bool is_placed = layout != "c" || shape == "ones" || storage != "usual";
  if (dtype.word == "vstr" && is_placed) {
    return conflict("vstr", layout != "c" ? layout : shape == "ones" ? shape : storage);
  }
  // A library's own slices cannot overlap or leave parts of an element out.
  if (is_one_of(layout, {"windows", "odd"}) && storage == "own") return conflict(layout, storage);
  const bool is_laid = is_one_of(layout, {"broadcast", "windows", "odd"});
  if (storage == "view" && (is_laid || !(is_line || is_grid || shape == "0d"))) {
    return conflict(storage, is_laid ? layout : shape);
  }
  if (storage == "own" && is_one_of(shape, {"ones"})) return conflict(storage, shape);
  if (is_offset(storage) && !has_elements(shape)) return conflict(storage, shape);
  const bool is_float = dtype.kind == 'f' || dtype.word == "bf16";
  const bool is_complex = dtype.kind == 'c' || dtype.word == "c32";
  const bool is_integer = dtype.kind == 'i';
  if ((property == "swapped" && (dtype.bytes == 1 || dtype.kind == 'm' || dtype.kind == 'n')) ||
      (property == "grad" && !is_float && !is_complex) || (property == "conj" && !is_complex) ||
      (property == "neg" && !is_float && !is_complex) ||
      (property == "nulls" && dtype.kind != 'f' && !is_integer)) {
    return conflict(property, std::string(dtype.word));
  }
  if ((is_one_of(property, {"conj", "neg"}) && !has_elements(shape)) ||
      (property == "nulls" && !is_line && !is_grid)) {
    return conflict(property, shape);
  }
  return "";
}

std::string name_of(const Point& point) {
  std::string name = word(kDtype, point);
  for (std::size_t axis = kShape; axis < kAxes; ++axis) {
    const std::size_t usual = axis == kShape ? usual_shape(point) : 0;
    if (point[axis] != usual) name += "-" + word(axis, point);
  }
  return name;
}

Case case_at(const Point& point) {
  const std::string &storage = word(kStorage, point), &property = word(kProperty, point);
  const CaseDtype& dtype = kDtypes.at(point[kDtype]);
  Case made{.name = name_of(point),
            .dtype = std::string(dtype.name),
            .dims = word(kShape, point),
            .layout = word(kLayout, point),
            .storage = storage};
  if (is_offset(storage)) made.offset = std::stoull(storage.substr(5));
  made.readonly = property == "readonly";
  if (property != "plain" && property != "readonly") made.special = property;
  return made;
}

/// Pairs of values of two axes that no case has yet.
class Pairs {
 public:
  /// Does what `visit` says with each pair of a point.
  template <typename Visit>
  static void of(const Point& point, const Visit& visit) {
    for (std::size_t a = 0, of_axes = 0; a < kAxes; ++a) {
      for (std::size_t b = a + 1; b < kAxes; ++b, ++of_axes) {
        visit((of_axes * kMostValues + point[a]) * kMostValues + point[b]);
      }
    }
  }
  void add(const Point& point) {
    of(point, [&](std::size_t pair) { missing_[pair] = true; });
  }
  void remove(const Point& point) {
    of(point, [&](std::size_t pair) { missing_[pair] = false; });
  }
  std::size_t missing(const Point& point) const {
    std::size_t count = 0;
    of(point, [&](std::size_t pair) { count += missing_[pair]; });
    return count;
  }

  static constexpr std::size_t kMost = kAxes * (kAxes - 1) / 2;

 private:
  static constexpr std::size_t kMostValues = kDtypes.size();
  std::vector<bool> missing_ = std::vector<bool>(kMost * kMostValues * kMostValues);
};

/// Visits each possible combination of the given values.
void product(const std::array<std::vector<std::size_t>, kAxes>& values,
             const std::function<void(const Point&)>& visit) {
  Point point{};
  const std::function<void(std::size_t)> at = [&](std::size_t axis) {
    if (axis == kAxes) {
      if (why_not_combined(point).empty()) visit(point);
      return;
    }
    for (const std::size_t value : values[axis]) {
      point[axis] = value;
      at(axis + 1);
    }
  };
  at(0);
}

std::array<std::vector<std::size_t>, kAxes> every_value() {
  std::array<std::vector<std::size_t>, kAxes> all;
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    for (std::size_t i = 0; i < case_axes()[axis].values.size(); ++i) {
      if (case_axes()[axis].values[i].word != kHuge) all[axis].push_back(i);
    }
  }
  return all;
}

/// The index of a word of an axis; its number of values if there is none.
std::size_t index_of(const CaseAxis& axis, const std::string& word) {
  const auto at = std::find_if(axis.values.begin(), axis.values.end(),
                               [&](const AxisValue& value) { return value.word == word; });
  return static_cast<std::size_t>(at - axis.values.begin());
}

/// The points that differ from the usual one on at most one axis, then greedily those with most
/// pairs that no earlier point has.
std::vector<Point> pairwise() {
  std::vector<Point> points{Point{}}, possible;
  const auto all = every_value();
  for (std::size_t axis = 0; axis < kAxes; ++axis) {
    for (const std::size_t i : all[axis]) {
      if (i == 0) continue;
      Point point{};
      point[axis] = i;
      point[kShape] = axis == kShape ? i : usual_shape(point);
      // Only complex numbers have conjugates.
      if (!why_not_combined(point).empty()) point[kDtype] = index_of(case_axes()[kDtype], "c64");
      points.push_back(point);
    }
  }
  Pairs pairs;
  product(all, [&](const Point& point) {
    possible.push_back(point);
    pairs.add(point);
  });
  for (const Point& point : points) pairs.remove(point);
  for (std::size_t wanted = Pairs::kMost; wanted > 0; --wanted) {
    for (const Point& point : possible) {
      if (pairs.missing(point) < wanted) continue;
      points.push_back(point);
      pairs.remove(point);
    }
  }
  return points;
}

std::vector<std::string> words_of(const CaseAxis& axis) {
  std::vector<std::string> words;
  for (const AxisValue& value : axis.values) words.push_back(value.word);
  return words;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

Point point_named(const std::string& name) {
  Point point{};
  std::array<bool, kAxes> has{};
  std::vector<std::string> words;
  for (const CaseAxis& axis : case_axes()) {
    for (const AxisValue& value : axis.values) words.push_back(value.word);
  }
  if (name.starts_with('-') || name.ends_with('-') || name.find("--") != std::string::npos) {
    throw UsageError("unknown case '" + name + "': a word beside '-' is missing");
  }
  for (const std::string& part : split(name, '-')) {
    std::optional<std::size_t> on;
    for (std::size_t axis = 0; axis < kAxes && !on; ++axis) {
      const std::size_t index = index_of(case_axes()[axis], part);
      if (index == case_axes()[axis].values.size()) continue;
      if (has[axis]) {
        throw UsageError("case '" + name + "' has two values of the axis " +
                         case_axes()[axis].name);
      }
      on = axis;
      point[axis] = index;
      has[axis] = true;
    }
    if (!on) {
      require_no_kind(part, "unknown case '" + name + "': ");
      std::string hint = did_you_mean(part, words);
      for (const CaseAxis& axis : case_axes()) {
        for (const AxisValue& value : axis.values) {  // "float16"
          if (value.meaning == part) hint = " (did you mean '" + value.word + "'?)";
        }
      }
      throw UsageError("unknown case '" + name + "': '" + part + "' is no value of an axis" + hint +
                       "; 'dlbench help cases' lists them");
    }
  }
  if (!has[kDtype]) {
    throw UsageError("case '" + name + "' has no dtype: write " + word(kDtype, Point{}) + "-" +
                     name);
  }
  if (!has[kShape]) point[kShape] = usual_shape(point);
  if (const std::string why = why_not_combined(point); !why.empty()) {
    throw UsageError("no case '" + name + "': " + why);
  }
  return point;
}

}  // namespace

const std::vector<CaseAxis>& case_axes() {
  static const std::vector<CaseAxis> axes = make_axes();
  return axes;
}

const std::vector<LibraryKind>& library_kinds() {
  static const std::vector<LibraryKind> kinds{
      {"masked", "with a mask", "numpy_ma"},
      {"unit", "with a physical unit", "astropy,pint,unyt"},
      {"chunked", "in two chunks", "pyarrow:chunked"},
      {"device1", "on a second device of the host's memory", "array_api_strict:device1"},
      {"meta", "without memory", "torch:meta"}};
  return kinds;
}

const std::vector<Case>& all_cases() {
  static const std::vector<Case> cases = [] {
    std::vector<Case> made;
    for (const Point& point : pairwise()) made.push_back(case_at(point));
    return made;
  }();
  return cases;
}

Case case_named(const std::string& name) {
  return case_at(point_named(name));
}

bool is_case(const std::string& name) {
  try {
    point_named(name);
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

namespace {

/// "dtype=bf16,f64" of one axis.
void select(const std::string& selection, std::array<std::vector<std::size_t>, kAxes>& values) {
  const std::size_t equals = selection.find('=');
  if (selection.find('=', equals + 1) != std::string::npos || selection.find(',') < equals) {
    throw UsageError("a space separates names and axes: 'f32 dtype=bf16,f64 layout=all'; '" +
                     selection + "' has a comma there");
  }
  std::vector<std::string> names;
  for (const CaseAxis& axis : case_axes()) names.push_back(axis.name);
  const std::string wanted = selection.substr(0, equals);
  require_known("axis of cases", wanted, names);
  const auto axis =
      static_cast<std::size_t>(std::find(names.begin(), names.end(), wanted) - names.begin());
  const std::vector<std::string> words = words_of(case_axes()[axis]);
  std::vector<std::string> allowed = words;
  for (const Group& group : kGroups) {
    const auto is_in = [&](const std::string& word) { return word.starts_with(group.prefix); };
    if (std::any_of(words.begin(), words.end(), is_in)) allowed.emplace_back(group.word);
  }
  if (!values[axis].empty()) throw UsageError("the axis " + wanted + " is selected twice");
  bool is_all = false;
  for (const std::string& one : split(selection.substr(equals + 1), ',')) {
    if (one == "all") {
      is_all = true;
      continue;
    }
    require_no_kind(one, "");
    require_known("value of the axis " + wanted, one, allowed);
    for (std::size_t i = 0; i < words.size(); ++i) {
      const auto selects = [&](const Group& group) {
        return group.word == one && words[i].starts_with(group.prefix);
      };
      const bool is_in_group = std::any_of(kGroups.begin(), kGroups.end(), selects);
      if (words[i] == one || is_in_group) add_new(values[axis], i);
    }
  }
  if (is_all) values[axis] = every_value()[axis];
  if (values[axis].empty()) throw UsageError("'" + selection + "' selects no value");
}

}  // namespace

std::vector<Case> cases_of(const std::vector<std::string>& words) {
  if (words.empty()) return {case_named(kBaseline)};
  std::string text;
  for (const std::string& one : words) text += (text.empty() ? "" : ",") + one;
  std::vector<Case> cases;
  std::unordered_set<std::string> names;
  const auto add = [&](const Case& one) {
    if (names.insert(one.name).second) cases.push_back(one);
  };
  std::array<std::vector<std::size_t>, kAxes> values;
  for (const std::string& part : split(text, ' ')) {
    if (part.find('=') != std::string::npos) {
      select(part, values);
      continue;
    }
    for (const std::string& name : split(part, ',')) {
      if (name != "all") {
        add(case_named(name));
        continue;
      }
      for (const Case& one : all_cases()) add(one);
    }
  }
  if (std::all_of(values.begin(), values.end(), [](const auto& of) { return of.empty(); })) {
    return cases;
  }
  const bool has_shape = !values[kShape].empty();
  for (std::vector<std::size_t>& of : values) {
    if (of.empty()) of = {0};
  }
  // A layout of rows has its own usual shape.
  if (!has_shape) values[kShape] = {0, 1};
  std::size_t selected = 0;
  product(values, [&](const Point& point) {
    if (!has_shape && point[kShape] != usual_shape(point)) return;
    ++selected;
    add(case_at(point));
  });
  if (selected == 0) throw UsageError("no array has the selected values of '" + text + "'");
  return cases;
}

std::string with_usual_names(const std::string& pattern) {
  static const std::regex names("[a-z0-9]+(-[a-z0-9]+)+");
  const auto axis_of = [](const std::string& word) {
    std::size_t axis = 0;
    while (axis < kAxes && !contains(words_of(case_axes()[axis]), word)) ++axis;
    return axis;
  };
  std::string made;
  auto end = pattern.begin();
  for (std::sregex_iterator at(pattern.begin(), pattern.end(), names), none; at != none; ++at) {
    std::vector<std::string> words = split(at->str(), '-');
    std::stable_sort(words.begin(), words.end(), [&](const auto& one, const auto& other) {
      return axis_of(one) < axis_of(other);
    });
    std::string name;
    for (const std::string& word : words) name += (name.empty() ? "" : "-") + word;
    const bool has_words = axis_of(words.back()) < kAxes;
    made.append(end, (*at)[0].first);
    made += !has_words ? at->str() : is_case(name) ? case_named(name).name : name;
    end = (*at)[0].second;
  }
  return made.append(end, pattern.end());
}

std::uint64_t element_bytes(const Case& array_case) {
  const auto found = std::find_if(kDtypes.begin(), kDtypes.end(), [&](const CaseDtype& dtype) {
    return dtype.name == array_case.dtype;
  });
  return found->bytes;
}

std::vector<std::uint64_t> sizes_of(const Case& array_case,
                                    const std::vector<std::uint64_t>& requested) {
  const std::string& dims = array_case.dims;
  if (!has_elements(dims)) return {0};
  if (dims == "0d") return {element_bytes(array_case)};
  if (dims == kHuge) return {kHugeElements};
  return requested;
}

}  // namespace dlbench::plan
