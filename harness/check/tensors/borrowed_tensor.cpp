#include <algorithm>
#include <set>
#include <string>

#include "check/tensors/borrowed_state.hpp"
#include "check/tensors/module.hpp"

namespace dlbench::check {

PyTypeObject borrowed_type{};

namespace {

struct BorrowedTensor {
  PyObject ob_base;
  BorrowedState* state;
};

BorrowedState& state_of(PyObject* object) {
  return *reinterpret_cast<BorrowedTensor*>(object)->state;
}

// The name is never freed, because a capsule keeps the pointer and may outlive all other objects.
const char* immortal_name(const char* name) {
  static auto& names = *new std::set<std::string>;
  return names.insert(name).first->c_str();
}

template <typename Kind, std::size_t Count>
bool read_word(const char* word, const std::string_view (&known)[Count], Kind& kind) {
  const auto found = std::ranges::find(known, std::string_view(word));
  if (found == std::end(known)) {
    PyErr_Format(PyExc_ValueError, "unknown word '%s'", word);
    return false;
  }
  kind = static_cast<Kind>(found - std::begin(known));
  return true;
}

struct Arguments {
  PyObject* memory = nullptr;
  int legacy = 0, poison = 1, trapped = 0, context = 1;
  DLPackVersion version{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  unsigned long long flags = 0, byte_offset = 0;
  DLDevice device{kDLCPU, 0};
  DLDataType dtype{kDLFloat, 32, 1};
  PyObject *shape = nullptr, *strides = nullptr, *data = nullptr;
  const char *deleter = "honest", *destructor = "honest", *name = nullptr;

  bool read(PyObject* arguments, PyObject* keywords) {
    static const char* const names[] = {
        "memory", "shape",  "strides",     "dtype",   "legacy",  "version",
        "flags",  "device", "byte_offset", "data",    "deleter", "destructor",
        "name",   "poison", "trapped",     "context", nullptr};
    int type = device.device_type;
    const bool good = PyArg_ParseTupleAndKeywords(
                          arguments, keywords, "O!OO|$(bbH)p(II)K(ii)KOsszppp:BorrowedTensor",
                          const_cast<char**>(names), &memory_type, &memory, &shape, &strides,
                          &dtype.code, &dtype.bits, &dtype.lanes, &legacy, &version.major,
                          &version.minor, &flags, &type, &device.device_id, &byte_offset, &data,
                          &deleter, &destructor, &name, &poison, &trapped, &context) != 0;
    device.device_type = static_cast<DLDeviceType>(type);
    return good;
  }
};

bool fill(BorrowedState& state, const Arguments& given) {
  if (!read_ints(given.shape, state.shape) ||
      (given.strides != Py_None && !read_ints(given.strides, state.strides)) ||
      !read_word(given.deleter, kDeleters, state.deleter) ||
      !read_word(given.destructor, kDestructors, state.destructor)) {
    return false;
  }
  const Memory& memory = memory_of(given.memory);
  state.memory = memory.bytes;
  void* data = memory.bytes->place.get() + memory.offset;
  if (given.data != nullptr) {
    data = given.data == Py_None ? nullptr : read_address(given.data);
    if (PyErr_Occurred()) return false;
  }
  state.is_legacy = given.legacy != 0;
  state.poisons = given.poison != 0;
  state.name = given.name != nullptr ? immortal_name(given.name)
               : state.is_legacy     ? kLegacyName
                                     : kVersionedName;
  const DLTensor tensor{
      data,
      given.device,
      static_cast<std::int32_t>(state.shape.size()),
      given.dtype,
      state.shape.empty() ? nullptr : state.shape.data(),
      given.strides == Py_None || state.shape.empty() ? nullptr : state.strides.data(),
      given.byte_offset};
  const bool callable = state.deleter != Deleter::null;
  // A trapped struct keeps its context: the memory after its flags cannot be read.
  void* const context = given.context != 0 || given.trapped != 0 ? &state : nullptr;
  state.legacy = {
      {tensor, context, callable ? &BorrowedState::delete_tensor<DLManagedTensor> : nullptr},
      &state};
  state.own = {{given.version, context,
                callable ? &BorrowedState::delete_tensor<DLManagedTensorVersioned> : nullptr,
                given.flags, tensor},
               &state};
  if (given.trapped != 0 && !state.set_trap()) {
    PyErr_SetFromErrno(PyExc_OSError);
    return false;
  }
  return true;
}

PyObject* make(PyTypeObject* type, PyObject* arguments, PyObject* keywords) {
  Arguments given;
  if (!given.read(arguments, keywords)) return nullptr;
  auto state = std::make_unique<BorrowedState>();
  if (!fill(*state, given)) return nullptr;
  PyObject* self = type->tp_alloc(type, 0);
  if (self != nullptr) reinterpret_cast<BorrowedTensor*>(self)->state = state.release();
  return self;
}

void drop(PyObject* self) {
  state_of(self).let_go();
  Py_TYPE(self)->tp_free(self);
}

void end_of_capsule(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  auto* state = static_cast<BorrowedState*>(PyCapsule_GetContext(capsule));
  const bool is_used = std::string_view(name).starts_with("used_");
  if (state->destructor == Destructor::none ||
      (is_used && state->destructor == Destructor::honest)) {
    return;
  }
  BorrowedState::by_capsule = true;
  DLManagedTensor& legacy = state->legacy.managed;
  if (state->is_legacy && legacy.deleter != nullptr) {
    legacy.deleter(&legacy);
  } else if (!state->is_legacy && state->versioned->deleter != nullptr) {
    state->versioned->deleter(state->versioned);
  }
  BorrowedState::by_capsule = false;
}

PyObject* capsule(PyObject* self, PyObject*) {
  BorrowedState& state = state_of(self);
  void* content = state.is_legacy ? static_cast<void*>(&state.legacy.managed) : state.versioned;
  PyObject* made = PyCapsule_New(content, state.name, &end_of_capsule);
  if (made == nullptr || PyCapsule_SetContext(made, &state) != 0) return made;
  state.holders.fetch_add(1);
  return made;
}

PyObject* deletions(PyObject* self, void*) {
  return PyLong_FromUnsignedLong(state_of(self).deletions);
}
PyObject* had_gil(PyObject* self, void*) {
  return PyBool_FromLong(state_of(self).had_gil);
}
PyObject* address(PyObject* self, void*) {
  const DLTensor& tensor = *tensor_of(self);
  return PyLong_FromVoidPtr(static_cast<std::byte*>(tensor.data) + tensor.byte_offset);
}

PyMethodDef methods[] = {{"capsule", guarded<&capsule>, METH_NOARGS,
                          "capsule()\n--\n\nA new capsule with the tensor. Each must be released."},
                         {}};
PyGetSetDef properties[] = {
    {"deletions", guarded<&deletions>, nullptr, "The number of calls of its deleter.", nullptr},
    {"had_gil", guarded<&had_gil>, nullptr, "Whether the last call held the GIL.", nullptr},
    {"address", guarded<&address>, nullptr, "The address of the first element.", nullptr},
    {}};

}  // namespace

const DLTensor* tensor_of(PyObject* borrowed) {
  return &state_of(borrowed).own.managed.dl_tensor;
}

DLManagedTensorVersioned* export_versioned(PyObject* borrowed) {
  if (!PyObject_TypeCheck(borrowed, &borrowed_type)) {
    PyErr_SetString(PyExc_TypeError, "a BorrowedTensor is required");
    return nullptr;
  }
  state_of(borrowed).holders.fetch_add(1);
  return state_of(borrowed).versioned;
}

bool ready_borrowed_type() {
  name_type(
      borrowed_type, "dlbench._check.BorrowedTensor",
      "BorrowedTensor(memory, shape, strides, *, dtype=(2, 32, 1), legacy=False, version=(1, 3), "
      "flags=0,\n     device=(1, 0), byte_offset=0, data=..., deleter='honest', "
      "destructor='honest', name=None,\n     poison=True, trapped=False)\n--\n\n"
      "A managed tensor of any description. `strides`: in elements, or None for a NULL "
      "pointer. `data`: an\naddress, or None for NULL. The first deletion poisons the "
      "memory. `trapped`: the memory after the flags\ncannot be read.",
      sizeof(BorrowedTensor), &drop);
  borrowed_type.tp_new = guarded<&make>;
  borrowed_type.tp_methods = methods;
  borrowed_type.tp_getset = properties;
  return PyType_Ready(&borrowed_type) == 0;
}

}  // namespace dlbench::check
