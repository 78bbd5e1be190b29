#include "worker/proxy/replay.hpp"

#include <utility>

#include "worker/base/keywords.hpp"
#include "worker/library/exchange_api.hpp"
#include "worker/library/exported.hpp"
#include "worker/proxy/borrowed_tensors.hpp"

namespace dlbench::worker {
namespace {

// Buffers of PyBuffer_FillInfo point into the struct itself, which moves.
void move_buffer(Py_buffer& from, Py_buffer& to) {
  to = from;
  if (from.shape == &from.len) to.shape = &to.len;
  if (from.strides == &from.itemsize) to.strides = &to.itemsize;
  from.obj = nullptr;
}

int failed(const char* what) {
  PyErr_SetString(PyExc_RuntimeError, what);
  return -1;
}

}  // namespace

Replay::Replay(Recording recording, PyObject* array)
    : recording_(std::move(recording)),
      api_(exchange_api_of(Py_TYPE(array))),
      refuses_itself_(is_exported(array)),
      answers_(recording_.size()) {
  for (const Request& request : recording_) stack(request, stacks_.emplace_back());
}

void Replay::stack(const Request& request, std::vector<PyObject*>& arguments) const {
  arguments.assign(2, nullptr);
  for (const Ref& argument : request.arguments) arguments.push_back(argument.get());
}

void Replay::set_stream(PyObject* stream) {
  for (std::size_t i = 0; i < recording_.size(); ++i) {
    Request& request = recording_[i];
    if (!request.is(Request::How::method, "__dlpack__")) continue;
    set_request_stream(request, stream);
    stack(request, stacks_[i]);
  }
}

void Replay::rewind() {
  for (Answer& answer : answers_) {
    Py_CLEAR(answer.value);
    Py_CLEAR(answer.error);
    Py_CLEAR(answer.error_value);
    Py_CLEAR(answer.trace);
    if (answer.buffer.obj != nullptr) PyBuffer_Release(&answer.buffer);
    DLManagedTensorVersioned* managed = std::exchange(answer.managed, nullptr);
    if (managed != nullptr && managed->deleter != nullptr) managed->deleter(managed);
  }
  next_ = 0;
  has_diverged_ = false;
}

bool Replay::replay_request(std::size_t i, PyObject* array, Answer& answer) {
  const Request& request = recording_[i];
  switch (request.how) {
    case Request::How::method: {
      std::vector<PyObject*>& stack = stacks_[i];
      stack[1] = array;
      const std::size_t count = (request.positional + 1) | PY_VECTORCALL_ARGUMENTS_OFFSET;
      PyObject* names = request.keyword_names.get();
      if (request.ours && !refuses_itself_) {
        PyObject* const* values = stack.data() + 2 + request.positional;
        refuse_keyword(kUnknownToDlpack, unknown_to_legacy(values, names));
        return false;
      }
      answer.value = functions_.empty()
                         ? PyObject_VectorcallMethod(request.name, stack.data() + 1, count, names)
                         : PyObject_Vectorcall(functions_[i], stack.data() + 1, count, names);
      return answer.value != nullptr;
    }
    case Request::How::property:
      answer.value = PyObject_GetAttr(array, request.name);
      return answer.value != nullptr;
    case Request::How::buffer:
      return PyObject_GetBuffer(array, &answer.buffer, request.flags) == 0;
    case Request::How::managed:
      return managed_from(*api_, array, &answer.managed) == 0;
    case Request::How::borrowed:
      return api_->dltensor_from_py_object_no_sync(array, &answer.borrowed) == 0;
  }
  return false;
}

bool Replay::play(std::size_t i, PyObject* array) {
  Answer& answer = answers_[i];
  const bool answered = replay_request(i, array, answer);
  if (answered != recording_[i].raised) {
    if (!answered) PyErr_Fetch(&answer.error, &answer.error_value, &answer.trace);
    if (i == 0) next_ = 0;
    return true;
  }
  if (answered) failed("the producer raised once and then did not");
  return false;
}

void Replay::arm(std::size_t i) {
  next_ = i;
  Answer& answer = answers_[i];
  if (recording_[i].raised) {
    answer.error = Py_NewRef(PyExc_TypeError);
  } else if (recording_[i].how == Request::How::method ||
             recording_[i].how == Request::How::property) {
    answer.value = Py_NewRef(Py_None);
  }
}

Replay::Answer* Replay::next(Request::How how, PyObject* name) {
  if (next_ < recording_.size() && recording_[next_].how == how && recording_[next_].name == name) {
    return &answers_[next_++];
  }
  has_diverged_ = true;
  failed("the consumer makes other requests to a proxy");
  return nullptr;
}

bool Replay::raise(Answer& answer) {
  if (answer.error == nullptr) return false;
  PyErr_Restore(std::exchange(answer.error, nullptr), std::exchange(answer.error_value, nullptr),
                std::exchange(answer.trace, nullptr));
  return true;
}

PyObject* Replay::replay_export(PyObject* name) {
  Answer* answer = next(Request::How::method, name);
  if (answer == nullptr || raise(*answer)) return nullptr;
  return std::exchange(answer->value, nullptr);
}

PyObject* Replay::replay_property(PyObject* name) {
  Answer* answer = next(Request::How::property, name);
  if (answer == nullptr || raise(*answer)) return nullptr;
  return std::exchange(answer->value, nullptr);
}

int Replay::replay_export(Py_buffer* buffer, int flags) {
  buffer->obj = nullptr;
  const bool expected = next_ < recording_.size() && recording_[next_].flags == flags;
  Answer* answer = next(Request::How::buffer, nullptr);
  if (answer == nullptr) return -1;
  if (!expected) return failed("the consumer requests another kind of buffer");
  if (raise(*answer)) return -1;
  move_buffer(answer->buffer, *buffer);
  return 0;
}

int Replay::replay_export(DLManagedTensorVersioned** tensor) {
  Answer* answer = next(Request::How::managed, nullptr);
  if (answer == nullptr || raise(*answer)) return -1;
  *tensor = std::exchange(answer->managed, nullptr);
  return 0;
}

int Replay::replay_export(DLTensor* tensor) {
  Answer* answer = next(Request::How::borrowed, nullptr);
  if (answer == nullptr || raise(*answer)) return -1;
  *tensor = answer->borrowed;
  return 0;
}

void Replay::count_in(std::size_t i, BorrowedTensors& borrowed_tensors) {
  Answer& answer = answers_[i];
  if (answer.managed != nullptr) borrowed_tensors.pass_on(answer.managed);
  if (answer.value == nullptr || !PyCapsule_CheckExact(answer.value)) return;
  answer.value = borrowed_tensors.pass_on(answer.value);
  if (answer.value == nullptr) throw fetch_failure();
}

}  // namespace dlbench::worker
