#pragma once

#include <array>
#include <vector>

#include "worker/base/py.hpp"
#include "worker/proxy/recorder.hpp"
#include "worker/proxy/replay.hpp"

namespace dlbench::worker {

/// Temporarily replaces `__dlpack__`, `__dlpack_device__` and `__array__` of a producer's type with
/// builtins. They return the answers of a replay, or record each request and forward it. Used for
/// consumers that check the exact type and treat a proxy differently.
class PatchedType {
 public:
  /// Can the methods of the recording be replaced in this type? Not in a static type, and not if
  /// the attribute is no method.
  static bool is_possible(PyTypeObject* type, const Recording& recording);

  /// Throws Failure.
  explicit PatchedType(PyTypeObject* type);

  /// The type's own functions, one for each request of the recording. They take the array as first
  /// argument. Borrowed.
  std::vector<PyObject*> functions(const Recording& recording) const;

  /// Patches the type until the end of its scope. Only one may exist in a process. Each uses one
  /// version tag of the type; since Python 3.12 a type has 1,000.
  class Scope {
   public:
    /// Exactly one of `replay` and `recorder` is not null. Does nothing if `patched` is null.
    /// Throws Failure if the type cannot be changed.
    Scope(PatchedType* patched, Replay* replay, Recorder* recorder);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    PatchedType* patched_;
  };

  /// The builtin that replaces the method of a request; borrowed.
  PyObject* builtin(const Request& request) const;

 private:
  struct Method {
    PyObject* name = nullptr;  // interned
    Ref builtin;               // method descriptor
    Ref function;              // the type's function: its own, or a base's
    Ref own;                   // the entry in the type's own dictionary; empty: none
  };

  void restore() noexcept;

  PyTypeObject* type_;
  std::vector<Method> methods_;
};

}  // namespace dlbench::worker
