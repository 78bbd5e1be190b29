#pragma once

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <string>

namespace dlbench::native {

/// Records the requests to a native producer or consumer, one string for each call. Off, it costs
/// one branch.
class Log {
 public:
  bool is_on() const { return lines_ != nullptr; }

  /// Records "name(1,max_version=(1,0))"; `name` alone for an attribute.
  void call(const char* name, PyObject* const* arguments, Py_ssize_t positional,
            PyObject* keywords) {
    std::string text = std::string(name) + "(";
    const Py_ssize_t named = keywords == nullptr ? 0 : PyTuple_GET_SIZE(keywords);
    for (Py_ssize_t i = 0; i < positional + named; ++i) {
      if (i > 0) text += ",";
      if (i >= positional) {
        text += spell(PyTuple_GET_ITEM(keywords, i - positional), &PyObject_Str) + "=";
      }
      text += spell(arguments[i], &PyObject_Repr);
    }
    line(text + ")");
  }

  void line(const std::string& text) {
    PyObject* string = PyUnicode_FromString(text.c_str());
    if (string == nullptr || PyList_Append(lines_, string) != 0) PyErr_Clear();
    Py_XDECREF(string);
  }

  // The functions for a module's method table.
  static PyObject* set_logging(PyObject*, PyObject* wanted) {
    const int on = PyObject_IsTrue(wanted);
    if (on < 0) return nullptr;
    Log& log = instance();
    if (on == 1 && !log.is_on()) {
      if ((log.lines_ = PyList_New(0)) == nullptr) return nullptr;
    } else if (on == 0) {
      Py_CLEAR(log.lines_);
    }
    Py_RETURN_NONE;
  }
  static PyObject* lines(PyObject*, PyObject*) {
    PyObject* kept = instance().lines_;
    return kept == nullptr ? PyList_New(0) : PyList_GetSlice(kept, 0, PyList_GET_SIZE(kept));
  }
  static PyObject* clear(PyObject*, PyObject*) {
    PyObject* kept = instance().lines_;
    if (kept != nullptr && PyList_SetSlice(kept, 0, PyList_GET_SIZE(kept), nullptr) != 0) {
      return nullptr;
    }
    Py_RETURN_NONE;
  }

  static Log& instance();

 private:
  static std::string spell(PyObject* value, PyObject* (*how)(PyObject*)) {
    PyObject* string = how(value);
    const char* text = string == nullptr ? nullptr : PyUnicode_AsUTF8(string);
    std::string spelled = text == nullptr ? "?" : text;
    std::erase(spelled, ' ');
    if (text == nullptr) PyErr_Clear();
    Py_XDECREF(string);
    return spelled;
  }

  PyObject* lines_ = nullptr;
};

inline constinit Log only_log{};

inline Log& Log::instance() {
  return only_log;
}

}  // namespace dlbench::native
