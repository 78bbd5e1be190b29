#include "worker/library/import_call.hpp"

#include <string>
#include <utility>

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

/// The function of a Call or a Capsule, or the callable itself.
Ref function_in(PyObject* spelled) {
  return is_instance(spelled, "Call") || is_instance(spelled, "Capsule")
             ? checked(PyObject_GetAttrString(spelled, "function"))
             : Ref::borrow(spelled);
}

/// The arguments of a Call, in the order of a vectorcall.
struct Arguments {
  std::vector<Ref> values;
  std::size_t positional = 0;
  Ref names;  // a tuple

  explicit Arguments(PyObject* call) {
    const Ref args = checked(PySequence_Tuple(checked(PyObject_GetAttrString(call, "args")).get()));
    positional = static_cast<std::size_t>(PyTuple_GET_SIZE(args.get()));
    for (std::size_t i = 0; i < positional; ++i) {
      values.push_back(Ref::borrow(PyTuple_GET_ITEM(args.get(), static_cast<Py_ssize_t>(i))));
    }
    const Ref kwargs = checked(PyObject_GetAttrString(call, "kwargs"));
    names = checked(PySequence_Tuple(kwargs.get()));
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names.get()); ++i) {
      PyObject* value = PyDict_GetItemWithError(kwargs.get(), PyTuple_GET_ITEM(names.get(), i));
      if (value == nullptr) throw fetch_failure();
      values.push_back(Ref::borrow(value));
    }
  }
};

/// The places of an array in an argument of a function of several.
std::size_t places_in(PyObject* argument, PyObject* placeholder) {
  if (!PyList_CheckExact(argument)) return argument == placeholder ? 1 : 0;
  std::size_t places = 0;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(argument); ++i) {
    places += PyList_GET_ITEM(argument, i) == placeholder ? 1 : 0;
  }
  return places;
}

}  // namespace

Within::Within(const Ref& within) {
  if (!within || within.get() == Py_None) return;
  Ref manager = checked(PyObject_CallNoArgs(within.get()));
  checked(PyObject_CallMethod(manager.get(), "__enter__", nullptr));
  manager_ = std::move(manager);
}

Within::~Within() noexcept(false) {
  if (!manager_) return;
  const Ref left =
      Ref::steal(PyObject_CallMethod(manager_.get(), "__exit__", "OOO", Py_None, Py_None, Py_None));
  if (left) return;
  Failure failure = fetch_failure();
  if (std::uncaught_exceptions() > exceptions_) return;
  failure.reason = "leaving `within` of the call: " + failure.reason;
  throw failure;
}

ImportCall::ImportCall(PyObject* spelled) : arguments_{nullptr} {
  in_steps_ = imports_capsule_ = is_instance(spelled, "Capsule");
  function_ = function_in(spelled);
  if (!PyCallable_Check(function_.get())) {
    throw Failure{Outcome::import_failed, "TypeError",
                  "an entry of PROTOCOLS is not callable: " + repr_of(function_.get())};
  }
  vectorcall_ = PyVectorcall_Function(function_.get());
  if (!is_instance(spelled, "Call")) {
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
  const Arguments given(spelled);
  for (const Ref& value : given.values) append(value.get());
  positional_ = given.positional;
  names_ = given.names;
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

ImportCall::ImportCall(PyObject* spelled, std::size_t arrays)
    : function_(is_instance(spelled, "Call") ? function_in(spelled) : Ref::borrow(spelled)),
      arguments_{nullptr},
      in_steps_(true) {
  if (!PyCallable_Check(function_.get())) {
    throw Failure{Outcome::import_failed, "TypeError",
                  "`call` in PROTOCOLS returns no function: " + repr_of(function_.get())};
  }
  PyObject* placeholder = adapter_attribute("X");
  std::size_t positional = arrays;
  if (is_instance(spelled, "Call")) {
    within_ = optional_attribute(spelled, "within");
    Arguments given(spelled);
    pattern_ = std::move(given.values);
    positional = given.positional;
    if (PyTuple_GET_SIZE(given.names.get()) > 0) names_ = given.names;
  } else {
    pattern_.assign(arrays, Ref::borrow(placeholder));
  }
  std::size_t places = 0;
  for (const Ref& value : pattern_) places += places_in(value.get(), placeholder);
  if (places != arrays) {
    throw Failure{Outcome::import_failed, "",
                  "`call` in PROTOCOLS returns a Call with " + std::to_string(places) +
                      " arguments X for " + std::to_string(arrays) + " arrays"};
  }
  vectorcall_ = PyVectorcall_Function(function_.get());
  spread_ = {vectorcall_ != nullptr ? vectorcall_ : &PyObject_Vectorcall, function_.get(),
             positional, names_.get()};
}

Ref ImportCall::row(const std::vector<PyObject*>& arrays) const {
  PyObject* placeholder = adapter_attribute("X");
  std::size_t used = 0;
  const auto put = [&](PyObject* value) {
    return Py_NewRef(value == placeholder ? arrays[used++] : value);
  };
  Ref row = checked(PyTuple_New(static_cast<Py_ssize_t>(pattern_.size() + 1)));
  PyTuple_SET_ITEM(row.get(), 0, Py_NewRef(Py_None));
  for (std::size_t i = 0; i < pattern_.size(); ++i) {
    PyObject* argument = pattern_[i].get();
    if (!PyList_CheckExact(argument)) {
      PyTuple_SET_ITEM(row.get(), static_cast<Py_ssize_t>(i + 1), put(argument));
      continue;
    }
    Ref list = checked(PyList_New(PyList_GET_SIZE(argument)));
    for (Py_ssize_t item = 0; item < PyList_GET_SIZE(argument); ++item) {
      PyList_SET_ITEM(list.get(), item, put(PyList_GET_ITEM(argument, item)));
    }
    PyTuple_SET_ITEM(row.get(), static_cast<Py_ssize_t>(i + 1), list.release());
  }
  return row;
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
