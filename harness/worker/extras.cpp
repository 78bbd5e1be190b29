#include "worker/extras.hpp"

#include <algorithm>

namespace dlbench::worker {

namespace {

// A library on top of arrays may hold the very object that it was given.
Ref held_by(PyObject* result, const Library& consumer) {
  const Ref memory = consumer.function("memory");
  if (!memory) return {};
  PyObject* held = PyObject_CallOneArg(memory.get(), result);
  if (held == nullptr) PyErr_Clear();
  return Ref::steal(held);
}

}  // namespace

std::vector<std::string> extras_of(PyObject* array, const Library& library) {
  const Ref extras = library.function("extras");
  if (!extras) return {};
  const Ref found = checked(PyObject_CallOneArg(extras.get(), array));
  if (PyUnicode_Check(found.get())) {
    throw Failure{Outcome::refused, "TypeError", "extras must return a tuple of words, not a word"};
  }
  const Ref words = checked(PySequence_Tuple(found.get()));
  std::vector<std::string> texts;
  for (Py_ssize_t i = 0; i < PyTuple_Size(words.get()); ++i) {
    texts.push_back(text_of(PyTuple_GetItem(words.get(), i)));
  }
  return texts;
}

std::vector<std::string> dropped(PyObject* source, const Library& producer, PyObject* result,
                                 const Library& consumer) {
  std::vector<std::string> words = extras_of(source, producer);
  if (words.empty()) return words;
  const auto keep = [&](const std::vector<std::string>& kept) {
    std::erase_if(words, [&](const std::string& word) {
      return std::find(kept.begin(), kept.end(), word) != kept.end();
    });
  };
  keep(extras_of(result, consumer));
  const Ref held = held_by(result, consumer);
  for (PyObject* kept : {result, held.get()}) {
    if (kept != nullptr && Py_TYPE(kept) == Py_TYPE(source)) keep(extras_of(kept, producer));
  }
  return words;
}

}  // namespace dlbench::worker
