#include "worker/proxy/stand_in.hpp"

#include <utility>

#include "worker/library/exchange_api.hpp"

namespace dlbench::worker {
namespace {

// What the consumer asks of the array itself, for types whose methods can be patched.
Tape watched(Crossing& crossing, PyObject* array, PatchedType& patched) {
  Tap tap;
  const PatchedType::Scope scope(&patched, nullptr, &tap);
  const Ref dropped = checked(crossing(array));
  return tap.tape();
}

}  // namespace

StandIn::StandIn(Crossing& crossing, PyObject* array, Shown shown, const Tape& tape, bool forwarded)
    : crossing_(crossing), forwarded_(forwarded) {
  Tape wanted = tape;
  PyTypeObject* type = Py_TYPE(array);
  if (crossing.takes_capsule()) {
    way_ = Way::capsule;
  } else if (!forwarded && PatchedType::is_possible(type, tape)) {
    way_ = Way::type;
    wanted = watched(crossing, array, patched_.emplace(type));
    if (!PatchedType::is_possible(type, wanted)) {
      throw Failure{Outcome::no_protocol, "",
                    "the consumer takes another path when it is shown a relay"};
    }
  }
  replay_ = std::make_unique<Replay>(std::move(wanted), array);
  if (way_ == Way::type) replay_->call_instead(patched_->functions(replay_->tape()));
  if (way_ == Way::relay) {
    relay_.emplace(array, shown, *replay_);
    api_ = exchange_api_of(Py_TYPE(relay_->get()));
  }
  for (const Asked& request : replay_->tape()) {
    std::vector<PyObject*>& stack = stacks_.emplace_back(2, nullptr);
    stack[1] = way_ == Way::relay ? relay_->get() : array;
    for (const Ref& argument : request.arguments) stack.push_back(argument.get());
  }
}

std::string StandIn::name() const {
  return way_ == Way::relay ? "relay" : way_ == Way::type ? "type" : "capsule";
}

PatchedType::Scope StandIn::scope() {
  return {patched_ && way_ == Way::type ? &*patched_ : nullptr, replay_.get(), nullptr};
}

int StandIn::ask(std::size_t i) {
  const Asked& request = tape()[i];
  PyObject* result = nullptr;
  switch (request.how) {
    case Asked::How::method: {
      PyObject* const* stack = stacks_[i].data() + 1;
      const std::size_t count = (request.positional + 1) | PY_VECTORCALL_ARGUMENTS_OFFSET;
      PyObject* names = request.keyword_names.get();
      result = way_ == Way::type
                   ? PyObject_Vectorcall(patched_->builtin(request), stack, count, names)
                   : PyObject_VectorcallMethod(request.name, stack, count, names);
      break;
    }
    case Asked::How::property:
      result = PyObject_GetAttr(relay_->get(), request.name);
      break;
    case Asked::How::buffer: {
      Py_buffer buffer;
      return PyObject_GetBuffer(relay_->get(), &buffer, request.flags);
    }
    case Asked::How::managed: {
      DLManagedTensorVersioned* managed = nullptr;
      return api_->managed_tensor_from_py_object_no_sync(relay_->get(), &managed);
    }
    case Asked::How::borrowed: {
      DLTensor borrowed;
      return api_->dltensor_from_py_object_no_sync(relay_->get(), &borrowed);
    }
  }
  Py_XDECREF(result);
  return result != nullptr ? 0 : -1;
}

}  // namespace dlbench::worker
