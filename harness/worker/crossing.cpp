#include "worker/crossing.hpp"

namespace dlbench::worker {
namespace {

PyObject* dlpack_name() {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
  return name;
}

bool is_instance(PyObject* object, const char* name) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == adapter_word(name);
}

}  // namespace

Crossing::Crossing(PyObject* spelled) : arguments_{nullptr} {
  const bool is_call = is_instance(spelled, "Call");
  takes_capsule_ = is_instance(spelled, "Capsule");
  function_ = is_call || takes_capsule_ ? checked(PyObject_GetAttrString(spelled, "function"))
                                        : Ref::borrow(spelled);
  if (!PyCallable_Check(function_.get())) {
    throw Failure{Outcome::import_failed, "TypeError",
                  repr_of(function_.get()) + " in PROTOCOLS cannot be called"};
  }
  vectorcall_ = PyVectorcall_Function(function_.get());
  if (!is_call) {
    arguments_.push_back(nullptr);
    slot_ = &arguments_[1];
    return;
  }
  PyObject* placeholder = adapter_word("X");
  std::vector<std::size_t> slots;
  const auto append = [&](PyObject* value) {
    if (value == placeholder) {
      slots.push_back(arguments_.size());
      arguments_.push_back(nullptr);
    } else {
      kept_.push_back(Ref::borrow(value));
      arguments_.push_back(value);
    }
  };
  const Ref args =
      checked(PySequence_Tuple(checked(PyObject_GetAttrString(spelled, "args")).get()));
  for (Py_ssize_t i = 0; i < PyTuple_Size(args.get()); ++i) append(PyTuple_GetItem(args.get(), i));
  positional_ = arguments_.size() - 1;
  const Ref kwargs = checked(PyObject_GetAttrString(spelled, "kwargs"));
  names_ = checked(PySequence_Tuple(kwargs.get()));
  for (Py_ssize_t i = 0; i < PyTuple_Size(names_.get()); ++i) {
    PyObject* value = PyDict_GetItemWithError(kwargs.get(), PyTuple_GetItem(names_.get(), i));
    if (value == nullptr) throw fetch_failure();
    append(value);
  }
  if (slots.empty()) {
    throw Failure{Outcome::import_failed, "", "a Call in PROTOCOLS does not mention X"};
  }
  slot_ = &arguments_[slots.front()];
  for (std::size_t i = 1; i < slots.size(); ++i) more_slots_.push_back(&arguments_[slots[i]]);
  if (PyTuple_Size(names_.get()) == 0) names_ = {};
}

PyObject* Crossing::through_capsule(PyObject* x) {
  PyObject* capsule = PyObject_VectorcallMethod(dlpack_name(), &x, 1, nullptr);
  if (capsule == nullptr) return nullptr;
  PyObject* result = take(capsule);
  Py_DECREF(capsule);
  return result;
}

}  // namespace dlbench::worker
