#pragma once

#include <exception>
#include <optional>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// A function of one argument, x. A value type, so that a loop keeps it in registers. Borrowed.
struct Direct {
  vectorcallfunc vectorcall = nullptr;
  PyObject* function = nullptr;

  PyObject* operator()(PyObject* x) const {
    PyObject* stack[] = {nullptr, x};  // the callee may overwrite the first slot
    return vectorcall(function, stack + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
  }
};

/// A function of several arrays. A row is a tuple of None, which the callee may overwrite during
/// the call, and the arguments. Borrowed.
struct Spread {
  vectorcallfunc vectorcall = nullptr;
  PyObject* function = nullptr;
  std::size_t positional = 0;
  PyObject* names = nullptr;  // of the arguments after those, or null

  PyObject* operator()(PyObject* row) const {
    PyObject** items = reinterpret_cast<PyTupleObject*>(row)->ob_item;
    return vectorcall(function, items + 1, positional | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
  }
};

/// A state of the thread that a call needs: `within` of its Call, a function that returns a context
/// manager. It is entered until the end of the scope, which throws Failure if the exit raises,
/// unless an exception ends it. Empty: none.
class Within {
 public:
  explicit Within(const Ref& within);
  Within(const Within&) = delete;
  Within& operator=(const Within&) = delete;
  ~Within() noexcept(false);

 private:
  Ref manager_;
  int exceptions_ = std::uncaught_exceptions();
};

/// A consumer's import, compiled once from an entry of its PROTOCOLS: a bare callable, Call(fn,
/// ...) or Capsule(fn). A call of it is one vectorcall (two for a capsule), without a Python frame
/// of dlbench and without a lookup. A tuple argument that contains X is rebuilt for each call.
class ImportCall {
 public:
  /// `spelled` is the value of a PROTOCOLS entry. Throws Failure if it is not callable.
  explicit ImportCall(PyObject* spelled);
  /// A function of so many arrays, which is called with rows. `spelled` is the function, or
  /// Call(fn, ...), where each X is the next array, also in a list. Throws Failure if it is not
  /// callable or has another number of X.
  ImportCall(PyObject* spelled, std::size_t arrays);
  ImportCall(const ImportCall&) = delete;
  ImportCall& operator=(const ImportCall&) = delete;

  /// Returns a new reference to the consumer's result, or null with an exception set.
  PyObject* operator()(PyObject* x) {
    if (in_steps_) [[unlikely]]
      return step_by_step(x);
    *slot_ = x;
    for (PyObject** slot : more_slots_) *slot = x;
    return call(function_.get(), arguments_.data() + 1,
                positional_ | PY_VECTORCALL_ARGUMENTS_OFFSET, names_.get());
  }

  /// Calls the consumer's function with a capsule.
  PyObject* import_capsule(PyObject* capsule) {
    arguments_[1] = capsule;
    PyObject* result =
        call(function_.get(), arguments_.data() + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
    arguments_[1] = nullptr;
    return result;
  }

  bool imports_capsule() const { return imports_capsule_; }

  /// The call as a bare callable, if it is one. This object must outlive the result.
  std::optional<Direct> direct() const {
    const bool is_bare = !in_steps_ && arguments_.size() == 2 && !names_ && vectorcall_ != nullptr;
    return is_bare ? std::optional(Direct{vectorcall_, function_.get()}) : std::nullopt;
  }

  /// The call as a function of several arrays, if it is one. This object must outlive the result.
  const std::optional<Spread>& spread() const { return spread_; }
  /// The row of these arrays, for a function of several.
  Ref row(const std::vector<PyObject*>& arrays) const;
  /// For Within.
  const Ref& within() const { return within_; }

 private:
  PyObject* call(PyObject* function, PyObject* const* arguments, std::size_t positional,
                 PyObject* names) const {
    return vectorcall_ != nullptr ? vectorcall_(function, arguments, positional, names)
                                  : PyObject_Vectorcall(function, arguments, positional, names);
  }
  PyObject* step_by_step(PyObject* x);
  PyObject* through_capsule(PyObject* x);

  Ref function_;
  vectorcallfunc vectorcall_ = nullptr;  // of function_, looked up once
  Ref names_;                            // tuple of keyword names, or empty
  std::vector<Ref> kept_;                // owns the constant arguments
  std::vector<PyObject*> arguments_;     // borrowed; the callee may overwrite [0]
  PyObject** slot_ = nullptr;            // the position of x in arguments_
  std::vector<PyObject**> more_slots_;   // its other positions
  std::size_t positional_ = 1;
  struct Group {
    std::size_t slot;              // in arguments_
    std::vector<PyObject*> items;  // borrowed constants; null: x
  };
  std::vector<Group> groups_;  // tuple arguments that contain x
  std::optional<Spread> spread_;
  std::vector<Ref> pattern_;  // of a row: the arguments, with X for an array
  Ref within_;
  bool imports_capsule_ = false;
  bool in_steps_ = false;  // needs more than one vectorcall, or arguments to be built
};

}  // namespace dlbench::worker
