#include "worker/judge/values.hpp"

#include <algorithm>

#include "exchange/dtype.hpp"
#include "exchange/elements.hpp"
#include "exchange/layout.hpp"
#include "model/codes.hpp"
#include "worker/arrays/read.hpp"
#include "worker/library/device_memory.hpp"

namespace dlbench::worker {
namespace {

// A list of numbers takes many times the bytes of the array.
constexpr std::uint64_t kMostBytesToList = 64ULL << 20;

Held listed(PyObject* array) {
  const Ref extras = checked(PyImport_ImportModule("dlbench.extras"));
  return read_array(checked(PyObject_CallMethod(extras.get(), "listed", "O", array)).get());
}

// The integers of a case's Python objects, to compare numbers that a library made of them.
Held numbers_of(const exchange::View& objects) {
  const auto numbers = std::make_shared<std::vector<std::int64_t>>(objects.elements());
  exchange::Elements(objects.address, objects.shape, objects.strides, sizeof(PyObject*))
      .pack(reinterpret_cast<std::byte*>(numbers->data()));
  for (std::int64_t& number : *numbers) {
    number = PyLong_AsLongLong(
        static_cast<PyObject*>(exchange::memory_at(static_cast<std::uintptr_t>(number))));
    if (PyErr_Occurred()) throw fetch_failure();
  }
  exchange::View view = objects;
  view.address = reinterpret_cast<std::uintptr_t>(numbers->data());
  view.dtype = exchange::dtype_from_name("int64");
  view.strides = exchange::c_strides(view.shape, view.element_bytes());
  return {view, numbers};
}

bool is_as_expected(const exchange::View& expected, const Held& held, exchange::Missing missing) {
  try {
    return exchange::difference(expected, on_host_memory(held).view, missing).empty();
  } catch (const exchange::ViewError&) {
    return false;
  }
}

bool has_other_reading(const exchange::View& expected, const exchange::View& read, PyObject* array,
                       exchange::Missing missing) {
  for (const Held& held : read_through_each(array)) {
    if (is_as_expected(expected, held, missing)) return true;
  }
  if (std::max(expected.bytes(), read.bytes()) > kMostBytesToList) return false;
  try {
    return is_as_expected(expected, listed(array), missing);
  } catch (const Failure&) {
    return false;
  }
}

}  // namespace

ComparedValues compare_values(const exchange::View& content, PyObject* array,
                              const Library& library, exchange::Missing missing) {
  ComparedValues compared{read_values(array, library), "", ""};
  const bool has_objects = compared.read.view.dtype == exchange::kObjects;
  // A consumer without the dtype may hold the same pointers.
  const bool is_converted = content.dtype == exchange::kObjects && !has_objects &&
                            !is_as_expected(content, compared.read, missing);
  const Held numbers = is_converted ? numbers_of(content) : Held{content, nullptr};
  const exchange::View& expected = numbers.view;
  if (has_objects && expected.dtype != exchange::kObjects) {
    throw Failure{Outcome::no_protocol, "",
                  "the result is an array, but its elements are Python objects, not numbers",
                  std::string(codes::kPythonObjects)};
  }
  compared.difference = exchange::difference(expected, compared.read.view, missing);
  if (compared.difference.empty() ||
      !has_other_reading(expected, compared.read.view, array, missing)) {
    return compared;
  }
  compared.disagreement = std::string("two ways of reading a ") + Py_TYPE(array)->tp_name +
                          " disagree, so one of its exports is wrong; by one of them " +
                          compared.difference;
  compared.difference.clear();
  return compared;
}

}  // namespace dlbench::worker
