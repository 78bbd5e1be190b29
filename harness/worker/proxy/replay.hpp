#pragma once

#include <dlpack/dlpack.h>

#include <vector>

#include "worker/base/py.hpp"
#include "worker/proxy/recording.hpp"

namespace dlbench::worker {

class BorrowedTensors;

/// Splits an exchange into two halves: it makes the recorded requests to the producer one after
/// another, and keeps the answers until the consumer requests them from a replaying proxy. Neither
/// half contains an allocation, a lookup or a Python frame of dlbench.
class Replay {
 public:
  /// `array` is an example of the arrays: they have the same type.
  Replay(Recording recording, PyObject* array);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() { rewind(); }

  /// Uses these functions instead of looking up the methods of the array: one for each request,
  /// borrowed, with the array as first argument. Empty: looks them up.
  void call_instead(std::vector<PyObject*> functions) { functions_ = std::move(functions); }

  /// Passes this `stream` in `__dlpack__` calls instead of the recorded one; null: passes none.
  void set_stream(PyObject* stream);

  const Recording& recording() const { return recording_; }
  std::size_t size() const { return recording_.size(); }

  /// Drops the answers that the consumer did not request.
  void rewind();

  /// Makes request `i` to the array and keeps the answer; 0 begins an exchange. Returns false with
  /// an exception set unless it fails or succeeds as in the recording.
  bool play(std::size_t i, PyObject* array);

  /// Sets an answer without cost for request `i`, to measure the floors.
  void arm(std::size_t i);

  /// Did the consumer make exactly the requests of the recording?
  bool is_done() const { return next_ == recording_.size() && !has_diverged_; }

  /// Returns the answers to the consumer. A request other than the next one of the recording fails.
  PyObject* replay_export(PyObject* name);
  PyObject* replay_property(PyObject* name);
  int replay_export(Py_buffer* buffer, int flags);
  int replay_export(DLManagedTensorVersioned** tensor);
  int replay_export(DLTensor* tensor);

  /// Counts the deletions of the answer to request `i` if it is a managed tensor. Throws Failure.
  void count_in(std::size_t i, BorrowedTensors& borrowed_tensors);

 private:
  struct Answer {
    PyObject* value = nullptr;  // owned, like all members
    PyObject *error = nullptr, *error_value = nullptr, *trace = nullptr;
    Py_buffer buffer{};
    DLManagedTensorVersioned* managed = nullptr;
    DLTensor borrowed{};
  };

  void stack(const Request& request, std::vector<PyObject*>& arguments) const;
  bool replay_request(std::size_t i, PyObject* array, Answer& answer);
  Answer* next(Request::How how, PyObject* name);
  bool raise(Answer& answer);

  Recording recording_;
  const DLPackExchangeAPI* api_;  // of the arrays' type; may be null
  bool refuses_itself_;  // requests that dlbench refused are repeated: true for objects of EXPORTS,
                         // false for a legacy proxy
  std::vector<Answer> answers_;
  // Arguments of each request: a free slot, the array, the others.
  std::vector<std::vector<PyObject*>> stacks_;
  std::vector<PyObject*> functions_;
  std::size_t next_ = 0;
  bool has_diverged_ = false;
};

}  // namespace dlbench::worker
