#pragma once

#include <dlpack/dlpack.h>

#include <vector>

#include "worker/base/py.hpp"
#include "worker/proxy/recording.hpp"

namespace dlbench::worker {

class BorrowedTensors;

/// Takes an exchange apart: the producer's calls are made one after another from C++, and their
/// answers are kept until the consumer, shown a replaying proxy, asks for them.
///
/// No allocation of ours, no lookup and no Python frame of ours in either half.
class Replay {
 public:
  /// For arrays of that one's type.
  Replay(Recording recording, PyObject* array);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;
  ~Replay() { rewind(); }

  /// Calls these in place of looking the methods up on the array: one for each request, borrowed,
  /// taking the array as first argument. Empty: looks them up.
  void call_instead(std::vector<PyObject*> functions) { functions_ = std::move(functions); }

  /// Asks for DLPack with that `stream` from now on, whatever the recording says; null: without
  /// one.
  void set_stream(PyObject* stream);

  const Recording& recording() const { return recording_; }
  std::size_t size() const { return recording_.size(); }

  /// Drops what nobody asked for.
  void rewind();

  /// Asks request `i` of the array and keeps the answer; 0 begins an exchange. False, with an
  /// exception set, where it failed and had not on the recording, or the other way about.
  bool play(std::size_t i, PyObject* array);

  /// An answer that costs nothing, for request `i`: for the floors.
  void arm(std::size_t i);

  /// Has the consumer asked for exactly what the recording holds?
  bool is_done() const { return next_ == recording_.size() && !strayed_; }

  /// The consumer's half. A request that is not the recording's next one fails.
  PyObject* give(PyObject* name);
  PyObject* give_property(PyObject* name);
  int give(Py_buffer* buffer, int flags);
  int give(DLManagedTensorVersioned** tensor);
  int give(DLTensor* tensor);

  /// Has what was kept for request `i` counted there, where it is a managed tensor. Throws Failure.
  void lend(std::size_t i, BorrowedTensors& borrowed_tensors);

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
  bool refuses_itself_;           // what EXPORTS make is asked again; a proxy of old is not there
  std::vector<Answer> answers_;
  std::vector<std::vector<PyObject*>> stacks_;  // arguments: a free slot, the array, the rest
  std::vector<PyObject*> functions_;
  std::size_t next_ = 0;
  bool strayed_ = false;
};

}  // namespace dlbench::worker
