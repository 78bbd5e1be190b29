#include "worker/proxy/patched_type.hpp"

#include <algorithm>
#include <string_view>

#include "worker/base/shown_type.hpp"
#include "worker/library/exported.hpp"

namespace dlbench::worker {
namespace {

// The object that handles calls while a type is patched.
struct Listener {
  Replay* replay = nullptr;
  Recorder* recorder = nullptr;
  const std::vector<PyObject*>* functions = nullptr;  // for the recorder: in the order of kNames
};
Listener listener;

constexpr std::array<const char*, 3> kNames{"__dlpack__", "__dlpack_device__", "__array__"};

PyObject* interned(std::size_t which) {
  static const std::array<PyObject*, 3> names{PyUnicode_InternFromString(kNames[0]),
                                              PyUnicode_InternFromString(kNames[1]),
                                              PyUnicode_InternFromString(kNames[2])};
  return names[which];
}

PyObject* note(std::size_t which, PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
               PyObject* keyword_names) {
  const Py_ssize_t keywords = keyword_names == nullptr ? 0 : PyTuple_GET_SIZE(keyword_names);
  std::vector<PyObject*> stack{self};
  stack.insert(stack.end(), arguments, arguments + positional + keywords);
  // Formatted before the call, because repr must not be called while an exception is pending.
  Request call = make_method_request(interned(which), arguments, positional, keyword_names);
  Recorder* recorder = listener.recorder;
  PyObject* result = PyObject_Vectorcall((*listener.functions)[which], stack.data(),
                                         static_cast<std::size_t>(positional) + 1, keyword_names);
  if (result == nullptr) {
    recorder->raised(std::move(call), refused_itself(self));
  } else {
    constexpr std::array<const char*, 3> kProtocols{"dlpack", "", "array"};
    recorder->answered(kProtocols[which], std::move(call));
  }
  return result;
}

template <std::size_t which>
PyObject* builtin_method(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                         PyObject* keyword_names) {
  if (listener.replay != nullptr) return listener.replay->replay_export(interned(which));
  if (listener.recorder != nullptr) return note(which, self, arguments, positional, keyword_names);
  PyErr_SetString(PyExc_RuntimeError, "this patched method is no longer recorded");
  return nullptr;
}

std::array<PyMethodDef, 3> builtins{method(kNames[0], builtin_method<0>),
                                    method(kNames[1], builtin_method<1>),
                                    method(kNames[2], builtin_method<2>)};

std::size_t which_of(std::string_view name) {
  return static_cast<std::size_t>(std::find(kNames.begin(), kNames.end(), name) - kNames.begin());
}

// The attribute in the type's own dictionary, not in that of its bases.
Ref own_attribute(PyTypeObject* type, PyObject* name) {
  const Ref dict = checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dict__"));
  PyObject* found = PyObject_GetItem(dict.get(), name);
  if (found == nullptr) PyErr_Clear();
  return Ref::steal(found);
}

// The attribute as the method lookup of an instance finds it.
PyObject* found_along_bases(PyTypeObject* type, PyObject* name) {
  PyObject* bases = type->tp_mro;
  for (Py_ssize_t i = 0; bases != nullptr && i < PyTuple_GET_SIZE(bases); ++i) {
    auto* base = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(bases, i));
    if (const Ref own = own_attribute(base, name)) return own.get();
  }
  return nullptr;
}

bool is_method(PyObject* attribute) {
  return attribute != nullptr &&
         (PyType_HasFeature(Py_TYPE(attribute), Py_TPFLAGS_METHOD_DESCRIPTOR) ||
          PyInstanceMethod_Check(attribute));
}

}  // namespace

bool PatchedType::is_possible(PyTypeObject* type, const Recording& recording) {
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) ||
      PyType_HasFeature(type, Py_TPFLAGS_IMMUTABLETYPE) || recording.empty()) {
    return false;
  }
  return std::all_of(recording.begin(), recording.end(), [type](const Request& request) {
    return request.how == Request::How::method && is_method(found_along_bases(type, request.name));
  });
}

// Patches all methods, because a consumer may make more requests to the type than to a proxy.
PatchedType::PatchedType(PyTypeObject* type) : type_(type) {
  auto* object = reinterpret_cast<PyObject*>(type);
  for (std::size_t which = 0; which < kNames.size(); ++which) {
    PyObject* name = interned(which);
    if (!is_method(found_along_bases(type, name))) continue;
    methods_.push_back({name, checked(PyDescr_NewMethod(type, &builtins[which])),
                        checked(PyObject_GetAttr(object, name)), own_attribute(type, name)});
  }
}

std::vector<PyObject*> PatchedType::functions(const Recording& recording) const {
  std::vector<PyObject*> all;
  for (const Request& request : recording) {
    for (const Method& one : methods_) {
      if (one.name == request.name) all.push_back(one.function.get());
    }
  }
  return all;
}

PyObject* PatchedType::builtin(const Request& request) const {
  for (const Method& one : methods_) {
    if (one.name == request.name) return one.builtin.get();
  }
  return nullptr;
}

void PatchedType::restore() noexcept {
  listener = {};
  PyObject *error = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&error, &value, &trace);
  auto* type = reinterpret_cast<PyObject*>(type_);
  for (const Method& one : methods_) {
    // Ignore the error: the attribute may not have been set.
    const int status = one.own ? PyObject_SetAttr(type, one.name, one.own.get())
                               : PyObject_DelAttr(type, one.name);
    if (status != 0) PyErr_Clear();
  }
  PyErr_Restore(error, value, trace);
}

PatchedType::Scope::Scope(PatchedType* patched, Replay* replay, Recorder* recorder)
    : patched_(patched) {
  if (patched == nullptr) return;
  static std::vector<PyObject*> functions;
  functions.assign(kNames.size(), nullptr);
  for (const Method& one : patched->methods_) {
    functions[which_of(text_of(one.name))] = one.function.get();
  }
  for (const Method& one : patched->methods_) {
    if (PyObject_SetAttr(reinterpret_cast<PyObject*>(patched->type_), one.name,
                         one.builtin.get()) != 0) {
      const Failure failure = fetch_failure(Outcome::unsupported);
      patched->restore();
      throw failure;
    }
  }
  listener = {replay, recorder, &functions};
}

PatchedType::Scope::~Scope() {
  if (patched_ != nullptr) patched_->restore();
}

}  // namespace dlbench::worker
