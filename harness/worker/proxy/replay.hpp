#pragma once

#include <dlpack/dlpack.h>

#include <vector>

#include "worker/base/py.hpp"
#include "worker/proxy/recording.hpp"

namespace dlbench::worker {

class BorrowedTensors;

/// Takes an exchange apart: the producer's calls are made one after another from C++, and their
/// answers are kept until the consumer requests them from a replaying proxy.
///
/// Neither half contains an allocation, a lookup or a Python frame of dlbench.
class Replay {
 public:
  /// For arrays of this object's type.
  Replay(Recording recording, PyObject* array);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() { rewind(); }

  /// Calls these functions instead of looking the methods up on the array: one for each request,
  /// borrowed, with the array as first argument. Empty: looks them up.
  void call_instead(std::vector<PyObject*> functions) { functions_ = std::move(functions); }

  /// Requests DLPack with that `stream` from now on, whatever the recording has; null: without one.
  void set_stream(PyObject* stream);

  const Recording& recording() const { return recording_; }
  std::size_t size() const { return recording_.size(); }

  /// Drops the answers that were not requested.
  void rewind();

  /// Makes request `i` to the array and keeps the answer; 0 begins an exchange. Returns false, with
  /// an exception set, where it failed but not on the recording, or the reverse.
  bool play(std::size_t i, PyObject* array);

  /// An answer without cost for request `i`: for the floors.
  void arm(std::size_t i);

  /// Did the consumer make exactly the requests of the recording?
  bool is_done() const { return next_ == recording_.size() && !strayed_; }

  /// The consumer's half. A request other than the recording's next one fails.
  PyObject* give(PyObject* name);
  PyObject* give_property(PyObject* name);
  int give(Py_buffer* buffer, int flags);
  int give(DLManagedTensorVersioned** tensor);
  int give(DLTensor* tensor);

  /// Counts the answer to request `i` there, where it is a managed tensor. Throws Failure.
  void count_in(std::size_t i, BorrowedTensors& borrowed_tensors);

 private:
  struct Answer {
    PyObject* value = nullptr;  // owned, as all here
    PyObject *error = nullptr, *error_value = nullptr, *trace = nullptr;
    Py_buffer buffer{};
    DLManagedTensorVersioned* managed = nullptr;
    DLTensor borrowed{};
  };

  void stack(const Asked& request, std::vector<PyObject*>& arguments) const;
  bool ask(std::size_t i, PyObject* array, Answer& answer);
  Answer* next(Asked::How how, PyObject* name);
  bool raise(Answer& answer);

  Recording recording_;
  const DLPackExchangeAPI* api_;  // of the arrays' type, may be null
  bool
      refuses_itself_;  // objects of EXPORTS are called again; a legacy proxy is absent in a replay
  std::vector<Answer> answers_;
  std::vector<std::vector<PyObject*>> stacks_;  // arguments: a free slot, the array, the rest
  std::vector<PyObject*> functions_;
  std::size_t next_ = 0;
  bool strayed_ = false;
};

}  // namespace dlbench::worker
