#include "worker/arrays/extras.hpp"

#include <algorithm>

namespace dlbench::worker {

namespace {

Ref helper(const char* name) {
  const Ref module = checked(PyImport_ImportModule("dlbench.extras"));
  return checked(PyObject_GetAttrString(module.get(), name));
}

// A library that wraps arrays may contain the object that it imported.
Ref held_by(PyObject* result, const Library& consumer) {
  const Ref memory = consumer.function("memory");
  if (!memory) return {};
  PyObject* held = PyObject_CallOneArg(memory.get(), result);
  if (held == nullptr) PyErr_Clear();
  return Ref::steal(held);
}

}  // namespace

Ref extras_of(PyObject* array, const Library& library) {
  const Ref extras = library.function("extras");
  if (!extras) return {};
  const Ref found = checked(PyObject_CallOneArg(extras.get(), array));
  Ref result = checked(PyObject_CallOneArg(helper("checked").get(), found.get()));
  return result.get() == Py_None ? Ref{} : std::move(result);
}

std::vector<std::string> words_of(const Ref& extras) {
  if (!extras) return {};
  const Ref words = checked(PySequence_Tuple(extras.get()));
  std::vector<std::string> texts;
  for (Py_ssize_t i = 0; i < PyTuple_Size(words.get()); ++i) {
    texts.push_back(text_of(PyTuple_GetItem(words.get(), i)));
  }
  return texts;
}

std::vector<unsigned char> missing_of(const Ref& extras) {
  if (!extras) return {};
  const Ref bytes = checked(PyObject_CallOneArg(helper("missing").get(), extras.get()));
  char* begin = nullptr;
  Py_ssize_t count = 0;
  if (PyBytes_AsStringAndSize(bytes.get(), &begin, &count) != 0) throw fetch_failure();
  return {begin, begin + count};
}

Comparison compare_extras(const Ref& extras, PyObject* source, const Library& producer,
                          PyObject* result, const Library& consumer) {
  Comparison comparison;
  std::vector<std::string> words = words_of(extras);
  if (words.empty()) return comparison;
  const Ref views = checked(PyList_New(0));
  const auto add = [&](const Ref& view) {
    if (view && PyList_Append(views.get(), view.get()) != 0) throw fetch_failure();
  };
  add(extras_of(result, consumer));
  const Ref held = held_by(result, consumer);
  for (PyObject* kept : {result, held.get()}) {
    if (kept != nullptr && Py_TYPE(kept) == Py_TYPE(source)) add(extras_of(kept, producer));
  }
  if (PyList_Size(views.get()) == 0) {
    comparison.undecided = std::move(words);
    return comparison;
  }
  comparison.lost = words_of(checked(
      PyObject_CallFunctionObjArgs(helper("lost").get(), extras.get(), views.get(), nullptr)));
  return comparison;
}

}  // namespace dlbench::worker
