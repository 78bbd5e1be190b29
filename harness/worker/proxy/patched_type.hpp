#pragma once

#include <array>
#include <vector>

#include "worker/base/py.hpp"
#include "worker/proxy/recorder.hpp"
#include "worker/proxy/replay.hpp"

namespace dlbench::worker {

/// A producer's own type whose `__dlpack__`, `__dlpack_device__` and `__array__` are, for a while,
/// builtins of ours that hand out what a replay keeps, or note in a recorder what is asked and hand
/// it on. For consumers that look at the exact type, to whom no proxy is the same.
class PatchedType {
 public:
  /// Can what is on the recording be replaced in this type? Not those of static types, nor what is
  /// no method.
  static bool is_possible(PyTypeObject* type, const Recording& recording);

  /// Throws Failure.
  explicit PatchedType(PyTypeObject* type);

  /// The type's own functions, one for each request of the recording, borrowed: they take the array
  /// first.
  std::vector<PyObject*> functions(const Recording& recording) const;

  /// In force to the end of its scope, whatever happens there. One at a time in a process. Each
  /// one costs the type a version tag, of which it has 1,000 from Python 3.12 on.
  class Scope {
   public:
    /// Of replay and recorder one is given; without a `patched` nothing is done. Throws Failure
    /// where the type does not let itself be changed.
    Scope(PatchedType* patched, Replay* replay, Recorder* recorder);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    PatchedType* patched_;
  };

  /// Our builtin in the place of request `i`, as a consumer would call it; borrowed.
  PyObject* builtin(const Asked& request) const;

 private:
  struct Method {
    PyObject* name = nullptr;  // interned
    Ref builtin;               // method descriptor
    Ref function;              // what the type answers with: its own, or a base's
    Ref own;                   // what stands in the type's own dictionary; empty: nothing
  };

  void restore() noexcept;

  PyTypeObject* type_;
  std::vector<Method> methods_;
};

}  // namespace dlbench::worker
