#include "worker/proxy/replay_source.hpp"

#include <utility>

#include "worker/library/exchange_api.hpp"

namespace dlbench::worker {
namespace {

// Records the consumer's requests to the array itself, for types whose methods can be patched.
Recording watched(ImportCall& import_call, PyObject* array, PatchedType& patched) {
  Recorder recorder;
  const PatchedType::Scope scope(&patched, nullptr, &recorder);
  const Ref dropped = checked(import_call(array));
  return recorder.recording();
}

}  // namespace

ReplaySource::ReplaySource(ImportCall& import_call, PyObject* array, Shown shown,
                           const Recording& recording, bool forwarded)
    : import_call_(import_call), forwarded_(forwarded) {
  Recording wanted = recording;
  PyTypeObject* type = Py_TYPE(array);
  if (import_call.imports_capsule()) {
    way_ = Way::capsule;
  } else if (!forwarded && PatchedType::is_possible(type, recording)) {
    way_ = Way::type;
    wanted = watched(import_call, array, patched_.emplace(type));
    if (!PatchedType::is_possible(type, wanted)) {
      throw Failure{Outcome::no_protocol, "", "the consumer behaves differently with a proxy"};
    }
  }
  replay_ = std::make_unique<Replay>(std::move(wanted), array);
  if (way_ == Way::type) replay_->call_instead(patched_->functions(replay_->recording()));
  if (way_ == Way::proxy) {
    proxy_.emplace(array, shown, *replay_);
    api_ = exchange_api_of(Py_TYPE(proxy_->get()));
  }
  for (const Request& request : replay_->recording()) {
    std::vector<PyObject*>& stack = stacks_.emplace_back(2, nullptr);
    stack[1] = way_ == Way::proxy ? proxy_->get() : array;
    for (const Ref& argument : request.arguments) stack.push_back(argument.get());
  }
}

std::string ReplaySource::name() const {
  return way_ == Way::proxy ? "proxy" : way_ == Way::type ? "type" : "capsule";
}

PatchedType::Scope ReplaySource::scope() {
  return {patched_ && way_ == Way::type ? &*patched_ : nullptr, replay_.get(), nullptr};
}

int ReplaySource::send_request(std::size_t i) {
  const Request& request = recording()[i];
  PyObject* result = nullptr;
  switch (request.how) {
    case Request::How::method: {
      PyObject* const* stack = stacks_[i].data() + 1;
      const std::size_t count = (request.positional + 1) | PY_VECTORCALL_ARGUMENTS_OFFSET;
      PyObject* names = request.keyword_names.get();
      result = way_ == Way::type
                   ? PyObject_Vectorcall(patched_->builtin(request), stack, count, names)
                   : PyObject_VectorcallMethod(request.name, stack, count, names);
      break;
    }
    case Request::How::property:
      result = PyObject_GetAttr(proxy_->get(), request.name);
      break;
    case Request::How::buffer: {
      Py_buffer buffer;
      return PyObject_GetBuffer(proxy_->get(), &buffer, request.flags);
    }
    case Request::How::managed: {
      DLManagedTensorVersioned* managed = nullptr;
      return api_->managed_tensor_from_py_object_no_sync(proxy_->get(), &managed);
    }
    case Request::How::borrowed: {
      DLTensor borrowed;
      return api_->dltensor_from_py_object_no_sync(proxy_->get(), &borrowed);
    }
  }
  Py_XDECREF(result);
  return result != nullptr ? 0 : -1;
}

}  // namespace dlbench::worker
