#include "worker/exchange/call_proof.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "exchange/dtype.hpp"
#include "exchange/layout.hpp"
#include "exchange/text.hpp"
#include "exchange/verdict.hpp"
#include "model/codes.hpp"
#include "worker/arrays/read.hpp"

namespace dlbench::worker {
namespace {

static_assert(kMostCallArrays == DLBENCH_CALL_MOST);

[[noreturn]] void fail_call(std::string reason, Warning::Data data = {}) {
  throw Failure{Outcome::wrong, "", "call: " + std::move(reason),
                std::string(codes::kWrongArguments), std::move(data)};
}

std::string argument(std::size_t position) {
  return "argument " + std::to_string(position + 1);
}

// The positions, counted from 1: "1-3, 7".
std::string folded(std::vector<std::size_t> positions) {
  std::sort(positions.begin(), positions.end());
  std::string text;
  for (std::size_t first = 0, last = 0; first < positions.size(); first = ++last) {
    while (last + 1 < positions.size() && positions[last + 1] == positions[last] + 1) ++last;
    if (!text.empty()) text += ", ";
    text += std::to_string(positions[first] + 1);
    if (last > first) text.append("-").append(std::to_string(positions[last] + 1));
  }
  return text;
}

// Records the content of the arguments of calls in its scope.
class RecordedContent {
 public:
  RecordedContent(std::vector<unsigned char>& content, std::uint64_t bytes) {
    dlbench_call_begin(content.data(), bytes);
  }
  RecordedContent(const RecordedContent&) = delete;
  RecordedContent& operator=(const RecordedContent&) = delete;
  ~RecordedContent() { dlbench_call_record.watch = nullptr; }
};

// Has bindings describe the arguments of calls in its scope.
class Described {
 public:
  explicit Described(std::vector<dlbench_call_tensor>& tensors) {
    dlbench_call_record.described = tensors.data();
  }
  Described(const Described&) = delete;
  Described& operator=(const Described&) = delete;
  ~Described() { dlbench_call_record.described = nullptr; }
};

std::optional<exchange::Dtype> dtype_of(const dlbench_call_tensor& tensor) {
  if (tensor.ndim < 0 || tensor.bits == 0) return {};
  return exchange::Dtype{tensor.code, tensor.bits};
}

// What is described and differs from the array, which may also be read as `expected`; empty if
// nothing is.
std::string difference(const dlbench_call_tensor& tensor, const exchange::View& array,
                       const exchange::View& expected) {
  if (tensor.ndim < 0) return {};
  const auto dtype = dtype_of(tensor);
  if (dtype && *dtype != array.dtype && *dtype != expected.dtype) {
    return "dtype " + to_string(*dtype) + ", not " + to_string(array.dtype);
  }
  const std::vector<std::int64_t> shape(tensor.shape, tensor.shape + tensor.ndim);
  if (shape != array.shape) {
    if (shape == expected.shape) return {};
    return "shape " + exchange::tuple_text(shape) + ", not " + exchange::tuple_text(array.shape);
  }
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] < 2 || tensor.strides[d] == array.strides[d]) continue;
    return "strides " + exchange::tuple_text({tensor.strides, shape.size()}) + ", not " +
           exchange::tuple_text(array.strides) + ", in bytes";
  }
  return {};
}

exchange::View place_of(PyObject* array, const Library& producer) try {
  return read_place(array, producer).view;
} catch (Failure& failure) {
  // What a body received cannot be compared with it.
  if (failure.outcome == Outcome::unproven) failure.outcome = Outcome::unsupported;
  throw;
}

}  // namespace

CallProof::CallProof(const std::vector<std::vector<PyObject*>>& rows, const Library& producer,
                     const Pool& pool)
    : pool_(pool),
      have_addresses_(pool.expected->view.elements() > 0),
      described_(DLBENCH_CALL_MOST) {
  for (const std::vector<PyObject*>& row : rows) {
    std::vector<std::uintptr_t>& addresses = addresses_.emplace_back();
    std::vector<exchange::View>& places = places_.emplace_back();
    std::uint64_t& sum = sums_.emplace_back(0);
    for (PyObject* array : row) {
      places.push_back(place_of(array, producer));
      addresses.push_back(places.back().address);
      sum += addresses.back() * (2 * addresses.size() - 1);
    }
  }
}

Judgement CallProof::judge(const std::function<void(std::size_t row)>& call) {
  const Described described(described_);
  copied_.clear();
  for (std::size_t row = 0; row < addresses_.size(); ++row) {
    begin();
    for (dlbench_call_tensor& tensor : described_) tensor.ndim = -1;
    call(row);
    compare_arguments(row);
  }
  Judgement judgement;
  if (!have_addresses_) return judgement;
  judgement.outcome = copied_.empty() ? Outcome::zero_copy : Outcome::copy;
  judgement.evidence.address = copied_.empty() ? Proof::yes : Proof::no;
  if (copied_.empty()) return judgement;
  try {
    compare_copies(call, judgement);
    judgement.has_right_values = true;
  } catch (const exchange::UnknownFormatError& error) {
    warn(judgement.warnings, "values-not-checked", error.what());
  }
  const std::string positions = folded(copied_);
  warn(judgement.warnings, "arguments-copied", "call: copied arguments: " + positions,
       {{"arguments", positions}});
  return judgement;
}

void CallProof::begin() {
  dlbench_call_gather();  // of calls before
  dlbench_call_record.calls = dlbench_call_record.sum = 0;
}

void CallProof::require_calls(std::uint64_t calls, std::size_t first) const {
  if (CallProof::calls() != calls) {
    fail_call("the body ran " + std::to_string(dlbench_call_record.calls) + " times in " +
              std::to_string(calls) + " calls");
  }
  if (!copied_.empty() || !have_addresses_) return;
  std::uint64_t sum = 0;
  for (std::size_t row = 0; row < sums_.size(); ++row) {
    const std::size_t after = (row + sums_.size() - first) % sums_.size();
    sum += sums_[row] * ((calls + sums_.size() - 1 - after) / sums_.size());
  }
  if (dlbench_call_record.sum != sum) fail_call("a later call passed other arrays to the body");
}

void CallProof::compare_arguments(std::size_t row) {
  const std::vector<std::uintptr_t>& expected = addresses_[row];
  if (CallProof::calls() != 1) {
    fail_call("the body ran " + std::to_string(dlbench_call_record.calls) + " times in 1 call");
  }
  if (dlbench_call_record.arrays != expected.size()) {
    fail_call("the body got " + std::to_string(dlbench_call_record.arrays) + " arrays, not " +
              std::to_string(expected.size()));
  }
  if (!have_addresses_) return;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (address(i) == expected[i]) {
      const std::string other = difference(described_[i], places_[row][i], pool_.expected->view);
      if (!other.empty()) fail_call(argument(i) + " has " + other, {{"described", other}});
      continue;
    }
    if (address(i) == 0) fail_call(argument(i) + " is a null pointer");
    for (const std::vector<std::uintptr_t>& others : addresses_) {
      const auto other = std::find(others.begin(), others.end(), address(i));
      if (other == others.end()) continue;
      fail_call(argument(i) + " is array " + std::to_string(other - others.begin() + 1) +
                (&others == &expected ? "" : " of another call"));
    }
    if (std::find(copied_.begin(), copied_.end(), i) == copied_.end()) copied_.push_back(i);
  }
}

// Compares the copied arguments as compact arrays in C or Fortran order: of the described dtype,
// else of float32, which functions of dlbench's own take, or of the array's own dtype.
void CallProof::compare_copies(const std::function<void(std::size_t row)>& call,
                               Judgement& judgement) {
  exchange::View found = pool_.expected->view;
  const exchange::Dtype own = found.dtype;
  found.swapped = false;
  std::string first_fault;
  std::vector<exchange::Dtype> dtypes{own, exchange::dtype_from_name("float32")};
  if (const auto described = dtype_of(described_[copied_.front()])) dtypes = {*described};
  for (const exchange::Dtype& dtype : dtypes) {
    found.dtype = dtype;
    for (const bool is_fortran : {false, true}) {
      std::vector<std::int64_t> shape = found.shape;
      if (is_fortran) std::reverse(shape.begin(), shape.end());
      found.strides = exchange::c_strides(shape, found.element_bytes());
      if (is_fortran) std::reverse(found.strides.begin(), found.strides.end());
      const std::string fault = compare_content(found, call);
      if (fault.empty()) {
        if (dtype != own) judgement.changed = {"dtype"};
        return;
      }
      if (first_fault.empty()) first_fault = fault;
    }
  }
  fail_call(first_fault);
}

// The first difference of a copied argument that is read as `found` is; empty if there is none.
std::string CallProof::compare_content(exchange::View found,
                                       const std::function<void(std::size_t row)>& call) {
  std::vector<unsigned char> content(found.bytes() * addresses_.front().size() + 1);
  {
    const RecordedContent recording(content, found.bytes());
    call(0);
  }
  if (dlbench_call_gather() > 0) {
    throw exchange::UnknownFormatError("a kernel got the copies, and their memory was not read");
  }
  for (const std::size_t position : copied_) {
    if (const std::string other = difference(described_[position], found, found); !other.empty())
      return argument(position) + " is a copy with " + other;
    found.address = reinterpret_cast<std::uintptr_t>(content.data()) + position * found.bytes();
    const std::string fault = exchange::difference(pool_.expected->view, found);
    if (!fault.empty()) return argument(position) + ": " + fault;
  }
  return {};
}

}  // namespace dlbench::worker
