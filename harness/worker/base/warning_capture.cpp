#include "worker/base/warning_capture.hpp"

namespace dlbench::worker {

WarningCapture::WarningCapture() {
  const Ref module = checked(PyImport_ImportModule("warnings"));
  const Ref type = checked(PyObject_GetAttrString(module.get(), "catch_warnings"));
  const Ref record = checked(Py_BuildValue("{sO}", "record", Py_True));
  const Ref none = checked(PyTuple_New(0));
  context_ = checked(PyObject_Call(type.get(), none.get(), record.get()));
  list_ = checked(PyObject_CallMethod(context_.get(), "__enter__", nullptr));
  checked(PyObject_CallMethod(module.get(), "simplefilter", "s", "always"));
}

WarningCapture::~WarningCapture() {
  // A scope that is left by a C++ Failure has no pending Python exception.
  const Ref left =
      Ref::steal(PyObject_CallMethod(context_.get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
  if (!left) PyErr_Clear();
}

Warnings WarningCapture::warnings() const {
  Warnings found;
  for (Py_ssize_t i = 0; i < PyList_Size(list_.get()); ++i) {
    PyObject* one = PyList_GetItem(list_.get(), i);
    const Ref message = checked(PyObject_GetAttrString(one, "message"));
    const std::string category = Py_TYPE(message.get())->tp_name;
    std::string text = text_of(message.get());
    text = text.substr(0, text.find('\n'));
    warn(found, "python-warning", category + ": " + text,
         {{"category", category}, {"message", text}});
  }
  return found;
}

}  // namespace dlbench::worker
