#include "worker/proxy/proxy.hpp"

#include <array>
#include <map>

#include "worker/base/keywords.hpp"
#include "worker/base/shown_type.hpp"
#include "worker/library/exchange_api.hpp"
#include "worker/library/exported.hpp"
#include "worker/proxy/borrowed_tensors.hpp"
#include "worker/proxy/proxied_api.hpp"

namespace dlbench::worker {
namespace {

struct Proxy {
  PyObject_HEAD PyObject* x;  // owned
  Recorder* recorder;         // borrowed, may be null, like `replay`
  Replay* replay;             // returns answers in place of x
};

Proxy* proxy_of(PyObject* self) {
  return reinterpret_cast<Proxy*>(self);
}

PyObject* forward(PyObject* self, PyObject* name, const char* protocol, PyObject* const* arguments,
                  Py_ssize_t positional, PyObject* keyword_names) {
  Proxy* proxy = proxy_of(self);
  if (proxy->replay != nullptr) return proxy->replay->replay_export(name);
  constexpr Py_ssize_t kMost = 12;
  const Py_ssize_t keywords = keyword_names == nullptr ? 0 : PyTuple_GET_SIZE(keyword_names);
  if (positional + keywords >= kMost) {
    PyErr_Format(PyExc_TypeError, "%U: too many arguments", name);
    return nullptr;
  }
  std::array<PyObject*, kMost> stack{proxy->x};
  for (Py_ssize_t i = 0; i < positional + keywords; ++i) {
    stack[static_cast<std::size_t>(i) + 1] = arguments[i];
  }
  // Formatted before the call, because repr must not be called while an exception is pending.
  Request call;
  if (proxy->recorder != nullptr)
    call = make_method_request(name, arguments, positional, keyword_names);
  PyObject* result = nullptr;
  {
    const Producing producing(proxy->recorder);
    result = PyObject_VectorcallMethod(name, stack.data(), static_cast<std::size_t>(positional) + 1,
                                       keyword_names);
  }
  if (proxy->recorder != nullptr) {
    if (result == nullptr) {
      proxy->recorder->raised(std::move(call), refused_itself(proxy->x));
    } else {
      proxy->recorder->answered(protocol, std::move(call));
      // A capsule is readable here only if it is a DLPack capsule.
      const bool is_read = !PyCapsule_CheckExact(result) || is_dlpack_capsule(result);
      if (*protocol != '\0') proxy->recorder->set_address(is_read ? address_in(result) : 0);
      if (PyCapsule_CheckExact(result)) {
        proxy->recorder->set_facts(facts_of_capsule(result));
        if (proxy->recorder->borrowed_tensors() != nullptr)
          result = proxy->recorder->borrowed_tensors()->pass_on(result);
      }
    }
  }
  return result;
}

PyObject* proxy_dlpack(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                       PyObject* names) {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
  return forward(self, name, "dlpack", arguments, positional, names);
}

// Raises the TypeError of an old producer for an unknown argument.
PyObject* proxy_dlpack_legacy(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                              PyObject* names) {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
  Proxy* proxy = proxy_of(self);
  PyObject* const unknown =
      proxy->replay != nullptr ? nullptr : unknown_to_legacy(arguments + positional, names);
  if (unknown != nullptr) {
    Request call;
    if (proxy->recorder != nullptr) call = make_method_request(name, arguments, positional, names);
    refuse_keyword(kUnknownToDlpack, unknown);
    if (proxy->recorder != nullptr) proxy->recorder->raised(std::move(call), true);
    return nullptr;
  }
  return forward(self, name, "dlpack", arguments, positional, names);
}

PyObject* proxy_dlpack_device(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                              PyObject* names) {
  static PyObject* const name = PyUnicode_InternFromString("__dlpack_device__");
  return forward(self, name, "", arguments, positional, names);
}

PyObject* proxy_array(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
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

PyObject* proxy_property(PyObject* self, void* which) {
  const auto* property = static_cast<const Property*>(which);
  Proxy* proxy = proxy_of(self);
  PyObject* name = property_name(*property);
  if (proxy->replay != nullptr) return proxy->replay->replay_property(name);
  const Producing producing(proxy->recorder);
  PyObject* value = PyObject_GetAttr(proxy->x, name);
  if (proxy->recorder != nullptr) {
    Request reading = make_request(Request::How::property, property->name, name);
    value == nullptr ? proxy->recorder->raised(std::move(reading))
                     : proxy->recorder->answered(property->protocol, std::move(reading));
    if (value != nullptr) proxy->recorder->set_address(address_in(value));
  }
  return value;
}

int proxy_buffer(PyObject* self, Py_buffer* buffer, int flags) {
  Proxy* proxy = proxy_of(self);
  if (proxy->replay != nullptr) return proxy->replay->replay_export(buffer, flags);
  const Producing producing(proxy->recorder);
  const int status = PyObject_GetBuffer(proxy->x, buffer, flags);
  if (proxy->recorder != nullptr) {
    Request request = make_request(Request::How::buffer, "buffer", nullptr, flags);
    status == 0 ? proxy->recorder->answered("buffer", std::move(request))
                : proxy->recorder->raised(std::move(request));
    if (status == 0) proxy->recorder->set_address(reinterpret_cast<std::uintptr_t>(buffer->buf));
  }
  return status;
}

void proxy_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  Py_DECREF(proxy_of(self)->x);
  type->tp_free(self);
  Py_DECREF(type);
}

PyTypeObject* proxy_type(Shown shown) {
  static std::map<Shown, ShownType>& types = *new std::map<Shown, ShownType>;
  if (const auto found = types.find(shown); found != types.end()) return found->second.get();
  ShownType made;
  if (shown & (kShowsDlpack | kShowsLegacy)) {
    const bool legacy = (shown & kShowsLegacy) != 0;
    made.methods.push_back(method("__dlpack__", legacy ? proxy_dlpack_legacy : proxy_dlpack));
    made.methods.push_back(method("__dlpack_device__", proxy_dlpack_device));
  }
  if (shown & kShowsArray) made.methods.push_back(method("__array__", proxy_array));
  for (const Property& property : kProperties) {
    if (!(shown & property.shown)) continue;
    made.properties.push_back(
        {property.name, proxy_property, nullptr, nullptr, const_cast<Property*>(&property)});
  }
  if (shown & kShowsBuffer) made.buffer = proxy_buffer;
  made.make("dlbench.Proxy", sizeof(Proxy), proxy_dealloc);
  if (shown & kShowsDlpackC) {
    const Ref capsule = checked(proxied_exchange_api());
    if (PyObject_SetAttrString(made.type.get(), kExchangeApiName, capsule.get()) != 0) {
      throw fetch_failure();
    }
  }
  return types.emplace(shown, std::move(made)).first->second.get();
}

}  // namespace

Ref make_proxy(PyObject* x, Shown shown) {
  PyTypeObject* type = proxy_type(shown);
  auto* proxy = reinterpret_cast<Proxy*>(checked(type->tp_alloc(type, 0)).release());
  proxy->x = Py_NewRef(x);
  proxy->recorder = nullptr;
  proxy->replay = nullptr;
  return Ref::steal(reinterpret_cast<PyObject*>(proxy));
}

bool is_proxy(PyObject* object) {
  return Py_TYPE(object)->tp_dealloc == proxy_dealloc;
}

RecordingProxy::RecordingProxy(PyObject* x, Shown shown, Recorder& recorder)
    : proxy_(make_proxy(x, shown)) {
  proxy_of(proxy_.get())->recorder = &recorder;
}

RecordingProxy::~RecordingProxy() {
  proxy_of(proxy_.get())->recorder = nullptr;
}

ReplayingProxy::ReplayingProxy(PyObject* x, Shown shown, Replay& replay)
    : proxy_(make_proxy(x, shown)) {
  proxy_of(proxy_.get())->replay = &replay;
}

ReplayingProxy::~ReplayingProxy() {
  proxy_of(proxy_.get())->replay = nullptr;
}

ProxiedProducer proxied_producer(void* object) {
  const auto* proxy = static_cast<const Proxy*>(object);
  return {proxy->x, proxy->recorder, proxy->replay};
}

}  // namespace dlbench::worker
