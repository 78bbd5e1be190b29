#pragma once

#include <array>
#include <vector>

#include "worker/base/py.hpp"
#include "worker/proxy/recorder.hpp"
#include "worker/proxy/replay.hpp"

namespace dlbench::worker {

/// A producer's own type whose `__dlpack__`, `__dlpack_device__` and `__array__` are temporarily
/// replaced by builtins. These return the answers of a replay, or record each request and pass it
/// on. For consumers that check the exact type and treat a proxy differently.
class PatchedType {
 public:
  /// Can the requests of the recording be replaced in this type? Static types and attributes that
  /// are no methods cannot.
  static bool is_possible(PyTypeObject* type, const Recording& recording);

  /// Throws Failure.
  explicit PatchedType(PyTypeObject* type);

  /// The type's own functions, one for each request of the recording, borrowed: the array is their
  /// first argument.
  std::vector<PyObject*> functions(const Recording& recording) const;

  /// Active to the end of its scope, also after an exception. One at a time in a process. Each
  /// costs the type a version tag, of which it has 1,000 from Python 3.12 on.
  class Scope {
   public:
    /// Exactly one of replay and recorder is given; without a `patched` nothing is done. Throws
    /// Failure where the type cannot be changed.
    Scope(PatchedType* patched, Replay* replay, Recorder* recorder);
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    ~Scope();

   private:
    PatchedType* patched_;
  };

  /// The builtin in the place of request `i`, as a consumer calls it; borrowed.
  PyObject* builtin(const Asked& request) const;

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
