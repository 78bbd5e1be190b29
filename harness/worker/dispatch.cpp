#include "worker/dispatch.hpp"

#include <vector>

#include "worker/extras.hpp"

namespace dlbench::worker {
namespace {

Ref twice(PyObject* numpy, const char* function, PyObject* array) {
  if (std::string(function) == "multiply") {
    return checked(PyObject_CallMethod(numpy, function, "OO", array, array));
  }
  const Ref both = checked(PyTuple_Pack(2, array, array));
  return checked(PyObject_CallMethod(numpy, function, "(O)", both.get()));
}

std::string told(PyObject* array, PyObject* result, const Library& library) {
  const bool same = Py_TYPE(array) == Py_TYPE(result);
  std::string text = same ? "kept" : Py_TYPE(result)->tp_name;
  std::vector<std::string> lost;
  try {
    lost = same ? dropped(array, library, result, library) : extras_of(array, library);
  } catch (const Failure&) {
    return text;
  }
  for (std::size_t i = 0; i < lost.size(); ++i) text += (i == 0 ? ", drops " : " and ") + lost[i];
  return text;
}

}  // namespace

std::map<std::string, std::string> look_at_dispatch(PyObject* array, const Library& library) {
  const Ref numpy = checked(PyImport_ImportModule("numpy"));
  std::map<std::string, std::string> found;
  for (const char* function : {"multiply", "concatenate"}) {
    try {
      const Ref result = twice(numpy.get(), function, array);
      found[function] = told(array, result.get(), library);
    } catch (const Failure& failure) {
      found[function] = failure.exception + ": " + failure.reason;
    }
  }
  return found;
}

}  // namespace dlbench::worker
