#include "worker/library/import_call.hpp"

namespace dlbench::worker {
namespace {

PyObject* dlpack_name() {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
  return name;
}

bool holds(PyObject* value, PyObject* item) {
  if (!PyTuple_CheckExact(value)) return false;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
    if (PyTuple_GET_ITEM(value, i) == item) return true;
  }
  return false;
}

bool is_instance(PyObject* object, const char* name) {
  return reinterpret_cast<PyObject*>(Py_TYPE(object)) == adapter_attribute(name);
}

}  // namespace

ImportCall::ImportCall(PyObject* spelled) : arguments_{nullptr} {
  const bool is_call = is_instance(spelled, "Call");
  in_steps_ = imports_capsule_ = is_instance(spelled, "Capsule");
  function_ = is_call || imports_capsule_ ? checked(PyObject_GetAttrString(spelled, "function"))
                                          : Ref::borrow(spelled);
  if (!PyCallable_Check(function_.get())) {
    throw Failure{Outcome::import_failed, "TypeError",
                  "an entry of PROTOCOLS is not callable: " + repr_of(function_.get())};
  }
  vectorcall_ = PyVectorcall_Function(function_.get());
  if (!is_call) {
    arguments_.push_back(nullptr);
    slot_ = &arguments_[1];
    return;
  }
  PyObject* placeholder = adapter_attribute("X");
  std::vector<std::size_t> slots;
  const auto append = [&](PyObject* value) {
    if (holds(value, placeholder)) {
      Group& group = groups_.emplace_back(Group{arguments_.size(), {}});
      for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(value); ++i) {
        PyObject* item = PyTuple_GET_ITEM(value, i);
        group.items.push_back(item == placeholder ? nullptr : item);
      }
      kept_.push_back(Ref::borrow(value));
      arguments_.push_back(nullptr);
    } else if (value == placeholder) {
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
  in_steps_ = !groups_.empty();
  if (slots.empty() && groups_.empty()) {
    throw Failure{Outcome::import_failed, "",
                  "a Call in PROTOCOLS has no argument X, the place of the array"};
  }
  for (const std::size_t slot : slots) {
    slot_ == nullptr ? void(slot_ = &arguments_[slot]) : more_slots_.push_back(&arguments_[slot]);
  }
  if (PyTuple_Size(names_.get()) == 0) names_ = {};
}

ImportCall::ImportCall(PyObject* function, std::size_t arrays)
    : function_(Ref::borrow(function)), arguments_{nullptr}, in_steps_(true) {
  if (!PyCallable_Check(function)) {
    throw Failure{Outcome::import_failed, "TypeError",
                  "`call` in PROTOCOLS returns no function: " + repr_of(function)};
  }
  vectorcall_ = PyVectorcall_Function(function);
  spread_ = {vectorcall_ != nullptr ? vectorcall_ : &PyObject_Vectorcall, function, arrays};
}

PyObject* ImportCall::step_by_step(PyObject* x) {
  if (spread_) return (*spread_)(x);
  if (imports_capsule_) return through_capsule(x);
  if (slot_ != nullptr) *slot_ = x;
  for (PyObject** slot : more_slots_) *slot = x;
  std::size_t made = 0;
  for (; made < groups_.size(); ++made) {
    const Group& group = groups_[made];
    PyObject* tuple = PyTuple_New(static_cast<Py_ssize_t>(group.items.size()));
    if (tuple == nullptr) break;
    for (std::size_t i = 0; i < group.items.size(); ++i) {
      PyTuple_SET_ITEM(tuple, static_cast<Py_ssize_t>(i),
                       Py_NewRef(group.items[i] != nullptr ? group.items[i] : x));
    }
    arguments_[group.slot] = tuple;
  }
  PyObject* result = made < groups_.size()
                         ? nullptr
                         : call(function_.get(), arguments_.data() + 1,
                                positional_ | PY_VECTORCALL_ARGUMENTS_OFFSET, names_.get());
  while (made-- > 0) Py_CLEAR(arguments_[groups_[made].slot]);
  return result;
}

PyObject* ImportCall::through_capsule(PyObject* x) {
  PyObject* capsule = PyObject_VectorcallMethod(dlpack_name(), &x, 1, nullptr);
  if (capsule == nullptr) return nullptr;
  PyObject* result = import_capsule(capsule);
  Py_DECREF(capsule);
  return result;
}

}  // namespace dlbench::worker
