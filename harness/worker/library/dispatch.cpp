#include "worker/library/dispatch.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "model/contains.hpp"
#include "worker/arrays/extras.hpp"

namespace dlbench::worker {
namespace {

Ref twice(PyObject* numpy, const std::string& function, PyObject* array) {
  if (function == "multiply") {
    return checked(PyObject_CallMethod(numpy, function.c_str(), "OO", array, array));
  }
  const Ref both = checked(PyTuple_Pack(2, array, array));
  return checked(PyObject_CallMethod(numpy, function.c_str(), "(O)", both.get()));
}

bool same_type(PyObject* array, PyObject* result) {
  return Py_TYPE(array) == Py_TYPE(result);
}

// A computed result may have another unit or other labels, so only the presence of extras is
// compared. NumPy's own types have none.
std::vector<std::string> lost_extras(PyObject* array, PyObject* result, const Library& library) {
  std::vector<std::string> words = words_of(extras_of(array, library));
  if (same_type(array, result)) {
    const Ref extras = extras_of(result, library);
    if (!extras) return {};
    const std::vector<std::string> kept = words_of(extras);
    std::erase_if(words, [&](const std::string& word) { return contains(kept, word); });
    return words;
  }
  return std::string_view(Py_TYPE(result)->tp_name) == "numpy.ndarray" ? words
                                                                       : std::vector<std::string>{};
}

std::string describe_result(PyObject* array, PyObject* result, const Library& library) {
  std::string text = same_type(array, result) ? "kept" : Py_TYPE(result)->tp_name;
  std::vector<std::string> words;
  try {
    words = lost_extras(array, result, library);
  } catch (const Failure&) {
    return text;
  }
  for (std::size_t i = 0; i < words.size(); ++i) text += (i == 0 ? ", drops " : " and ") + words[i];
  return text;
}

struct Dispatch {
  const char* protocol;
  const char* method;
  const char* function;
};
constexpr std::array<Dispatch, 2> kDispatches{
    {{"array_ufunc", "__array_ufunc__", "multiply"},
     {"array_function", "__array_function__", "concatenate"}}};

const Dispatch& named(const std::string& protocol) {
  return kDispatches.at(protocol == kDispatches.front().protocol ? 0 : 1);
}

}  // namespace

std::string dispatching(const std::string& protocol) {
  return named(protocol).function;
}

bool overrides(PyTypeObject* type, const std::string& protocol) {
  const Ref method = optional_attribute(reinterpret_cast<PyObject*>(type), named(protocol).method);
  return method && method.get() != Py_None;
}

std::vector<std::string> lost(PyObject* array, PyObject* result, const Library& library) {
  std::vector<std::string> words = lost_extras(array, result, library);
  if (!same_type(array, result)) words.insert(words.begin(), "type");
  return words;
}

Dispatched describe_dispatch(const std::string& function, PyObject* array, const Library& library) {
  const Ref numpy = checked(PyImport_ImportModule("numpy"));
  try {
    const Ref result = twice(numpy.get(), function, array);
    return {describe_result(array, result.get(), library), ""};
  } catch (const Failure& failure) {
    return {failure.exception + ": " + failure.reason, failure.exception};
  }
}

std::map<std::string, std::string> describe_dispatch(PyObject* array, const Library& library) {
  std::map<std::string, std::string> found;
  for (const Dispatch& one : kDispatches) {
    found[one.function] = describe_dispatch(one.function, array, library).became;
  }
  return found;
}

}  // namespace dlbench::worker
