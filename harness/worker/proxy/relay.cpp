#include "worker/proxy/relay.hpp"

#include <array>
#include <map>

#include "worker/base/keywords.hpp"
#include "worker/base/shown_type.hpp"
#include "worker/library/exchange_api.hpp"
#include "worker/library/exported.hpp"
#include "worker/proxy/loans.hpp"
#include "worker/proxy/relayed_api.hpp"

namespace dlbench::worker {
namespace {

struct Relay {
  PyObject_HEAD PyObject* x;  // owned
  Tap* tap;                   // borrowed, may be null, as the next
  Replay* replay;             // answers in the place of x
};

Relay* relay_of(PyObject* self) {
  return reinterpret_cast<Relay*>(self);
}

PyObject* forward(PyObject* self, PyObject* name, const char* protocol, PyObject* const* arguments,
                  Py_ssize_t positional, PyObject* keyword_names) {
  Relay* relay = relay_of(self);
  if (relay->replay != nullptr) return relay->replay->give(name);
  constexpr Py_ssize_t kMost = 12;
  const Py_ssize_t keywords = keyword_names == nullptr ? 0 : PyTuple_GET_SIZE(keyword_names);
  if (positional + keywords >= kMost) {
    PyErr_Format(PyExc_TypeError, "%U: too many arguments", name);
    return nullptr;
  }
  std::array<PyObject*, kMost> stack{relay->x};
  for (Py_ssize_t i = 0; i < positional + keywords; ++i) {
    stack[static_cast<std::size_t>(i) + 1] = arguments[i];
  }
  // Spelled before the call: with an exception pending nothing may be asked for its repr.
  Asked call;
  if (relay->tap != nullptr) call = asked_method(name, arguments, positional, keyword_names);
  PyObject* result = nullptr;
  {
    const Producing producing(relay->tap);
    result = PyObject_VectorcallMethod(name, stack.data(), static_cast<std::size_t>(positional) + 1,
                                       keyword_names);
  }
  if (relay->tap != nullptr) {
    if (result == nullptr) {
      relay->tap->raised(std::move(call), refused_itself(relay->x));
    } else {
      relay->tap->answered(protocol, std::move(call));
      // A capsule without a name is an array's where `__array_struct__` gives it, and only there.
      const bool is_read = !PyCapsule_CheckExact(result) || is_dlpack_capsule(result);
      if (*protocol != '\0') relay->tap->handed_address(is_read ? address_in(result) : 0);
      if (PyCapsule_CheckExact(result)) {
        relay->tap->handed_over(facts_of_capsule(result));
        if (relay->tap->loans() != nullptr) result = relay->tap->loans()->pass_on(result);
      }
    }
  }
  return result;
}

PyObject* relay_dlpack(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                       PyObject* names) {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
  return forward(self, name, "dlpack", arguments, positional, names);
}

// What a producer of those days says to an argument that it does not know.
PyObject* relay_dlpack_legacy(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                              PyObject* names) {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
  Relay* relay = relay_of(self);
  PyObject* const unknown =
      relay->replay != nullptr ? nullptr : unknown_to_legacy(arguments + positional, names);
  if (unknown != nullptr) {
    Asked call;
    if (relay->tap != nullptr) call = asked_method(name, arguments, positional, names);
    refuse_keyword(kUnknownToDlpack, unknown);
    if (relay->tap != nullptr) relay->tap->raised(std::move(call), true);
    return nullptr;
  }
  return forward(self, name, "dlpack", arguments, positional, names);
}

PyObject* relay_dlpack_device(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                              PyObject* names) {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack_device__");
  return forward(self, name, "", arguments, positional, names);
}

PyObject* relay_array(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                      PyObject* names) {
  static PyObject* const name = PyUnicode_InternFromString("__array__");
  return forward(self, name, "array", arguments, positional, names);
}

PyObject* property_name(const Property& property) {
  static const std::array<PyObject*, kProperties.size()> names = [] {
    std::array<PyObject*, kProperties.size()> made{};
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i] = PyUnicode_InternFromString(kProperties[i].name);
    }
    return made;
  }();
  return names[static_cast<std::size_t>(&property - kProperties.data())];
}

PyObject* relay_property(PyObject* self, void* which) {
  const auto* property = static_cast<const Property*>(which);
  Relay* relay = relay_of(self);
  PyObject* name = property_name(*property);
  if (relay->replay != nullptr) return relay->replay->give_property(name);
  const Producing producing(relay->tap);
  PyObject* value = PyObject_GetAttr(relay->x, name);
  if (relay->tap != nullptr) {
    Asked reading = asked(Asked::How::property, property->name, name);
    value == nullptr ? relay->tap->raised(std::move(reading))
                     : relay->tap->answered(property->protocol, std::move(reading));
    if (value != nullptr) relay->tap->handed_address(address_in(value));
  }
  return value;
}

int relay_buffer(PyObject* self, Py_buffer* buffer, int flags) {
  Relay* relay = relay_of(self);
  if (relay->replay != nullptr) return relay->replay->give(buffer, flags);
  const Producing producing(relay->tap);
  const int status = PyObject_GetBuffer(relay->x, buffer, flags);
  if (relay->tap != nullptr) {
    Asked request = asked(Asked::How::buffer, "buffer", nullptr, flags);
    status == 0 ? relay->tap->answered("buffer", std::move(request))
                : relay->tap->raised(std::move(request));
    if (status == 0) relay->tap->handed_address(reinterpret_cast<std::uintptr_t>(buffer->buf));
  }
  return status;
}

void relay_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(relay_of(self)->x);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* relay_type(Shown shown) {
  static std::map<Shown, ShownType>& types = *new std::map<Shown, ShownType>;
  if (const auto found = types.find(shown); found != types.end()) return found->second.get();
  ShownType made;
  if (shown & (kShowsDlpack | kShowsLegacy)) {
    const bool legacy = (shown & kShowsLegacy) != 0;
    made.methods.push_back(method("__dlpack__", legacy ? relay_dlpack_legacy : relay_dlpack));
    made.methods.push_back(method("__dlpack_device__", relay_dlpack_device));
  }
  if (shown & kShowsArray) made.methods.push_back(method("__array__", relay_array));
  for (const Property& property : kProperties) {
    if (!(shown & property.shown)) continue;
    made.properties.push_back(
        {property.name, relay_property, nullptr, nullptr, const_cast<Property*>(&property)});
  }
  if (shown & kShowsBuffer) made.buffer = relay_buffer;
  made.make("dlbench.Relay", sizeof(Relay), relay_dealloc);
  if (shown & kShowsDlpackC) {
    const Ref capsule = checked(relayed_exchange_api());
    if (PyObject_SetAttrString(made.type.get(), kExchangeApiName, capsule.get()) != 0) {
      throw fetch_failure();
    }
  }
  return types.emplace(shown, std::move(made)).first->second.get();
}

}  // namespace

Ref make_relay(PyObject* x, Shown shown) {
  PyTypeObject* type = relay_type(shown);
  auto* relay = reinterpret_cast<Relay*>(checked(type->tp_alloc(type, 0)).release());
  relay->x = Py_NewRef(x);
  relay->tap = nullptr;
  relay->replay = nullptr;
  return Ref::steal(reinterpret_cast<PyObject*>(relay));
}

TappedRelay::TappedRelay(PyObject* x, Shown shown, Tap& tap) : relay_(make_relay(x, shown)) {
  relay_of(relay_.get())->tap = &tap;
}

TappedRelay::~TappedRelay() {
  relay_of(relay_.get())->tap = nullptr;
}

ReplayingRelay::ReplayingRelay(PyObject* x, Shown shown, Replay& replay)
    : relay_(make_relay(x, shown)) {
  relay_of(relay_.get())->replay = &replay;
}

ReplayingRelay::~ReplayingRelay() {
  relay_of(relay_.get())->replay = nullptr;
}

RelayedProducer relayed_producer(void* object) {
  const auto* relay = static_cast<const Relay*>(object);
  return {relay->x, relay->tap, relay->replay};
}

}  // namespace dlbench::worker
