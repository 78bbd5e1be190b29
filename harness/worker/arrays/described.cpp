#include "worker/arrays/described.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdio>
#include <optional>
#include <string_view>

#include "exchange/dtype.hpp"
#include "exchange/read.hpp"
#include "worker/library/capsule.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {
namespace {

using exchange::View;

// The prefix of a buffer's format for the byte order that is not this machine's.
constexpr char kOtherOrder = std::endian::native == std::endian::little ? '>' : '<';

std::shared_ptr<void> keeper_of(Ref object) {
  return {object.release(), [](void* kept) { Py_XDECREF(static_cast<PyObject*>(kept)); }};
}

std::vector<std::int64_t> integers(PyObject* sequence) {
  const Ref tuple = checked(PySequence_Tuple(sequence));
  std::vector<std::int64_t> values;
  for (Py_ssize_t i = 0; i < PyTuple_Size(tuple.get()); ++i) {
    const long long value = PyLong_AsLongLong(PyTuple_GetItem(tuple.get(), i));
    if (value == -1 && PyErr_Occurred()) throw fetch_failure();
    values.push_back(value);
  }
  return values;
}

// In bytes: NumPy's `strides`, PyTorch's `stride()`. Empty: the array has none of its own.
std::vector<std::int64_t> own_strides(PyObject* array, std::int64_t element_bytes) try {
  if (const Ref strides = optional_attribute(array, "strides")) return integers(strides.get());
  const Ref stride = optional_attribute(array, "stride");
  if (!stride) return {};
  std::vector<std::int64_t> steps = integers(checked(PyObject_CallNoArgs(stride.get())).get());
  for (std::int64_t& step : steps) step *= element_bytes;
  return steps;
} catch (const Failure&) {
  return {};
}

Ref export_capsule(PyObject* array) {
  const Ref method = optional_attribute(array, "__dlpack__");
  if (!method) return {};
  const Ref none = checked(PyTuple_New(0));
  const Ref newest = checked(Py_BuildValue("{s(ii)}", "max_version", 1, 3));
  if (PyObject* capsule = PyObject_Call(method.get(), none.get(), newest.get())) {
    return Ref::steal(capsule);
  }
  // A producer before DLPack 1.0 does not accept max_version.
  PyErr_Clear();
  PyObject* capsule = PyObject_CallNoArgs(method.get());
  if (capsule == nullptr) PyErr_Clear();
  return Ref::steal(capsule);
}

std::optional<Held> read_dlpack(PyObject* array) {
  Ref capsule = export_capsule(array);
  if (!capsule || !PyCapsule_CheckExact(capsule.get())) return {};
  View view = view_of_capsule(capsule.get());
  return Held{std::move(view), keeper_of(std::move(capsule))};
}

std::optional<Held> read_buffer_as(PyObject* array, bool is_opaque) {
  if (!PyObject_CheckBuffer(array)) return {};
  const std::shared_ptr<Py_buffer> buffer(new Py_buffer{}, [](Py_buffer* held) {
    PyBuffer_Release(held);
    delete held;
  });
  if (PyObject_GetBuffer(array, buffer.get(), PyBUF_FULL_RO) != 0) {
    PyErr_Clear();
    return {};
  }
  // A suboffset that is not negative means that the memory contains pointers instead of elements.
  for (int i = 0; buffer->suboffsets != nullptr && i < buffer->ndim; ++i) {
    if (buffer->suboffsets[i] < 0) continue;
    throw Failure{Outcome::unproven, "",
                  std::string("the buffer of a ") + Py_TYPE(array)->tp_name +
                      " has suboffsets, which dlbench does not read"};
  }
  const auto rank = static_cast<std::size_t>(buffer->ndim);
  exchange::BufferFacts facts;
  facts.address = reinterpret_cast<std::uintptr_t>(buffer->buf);
  facts.length = buffer->len;
  facts.itemsize = buffer->itemsize;
  if (buffer->format != nullptr) facts.format = buffer->format;
  if (buffer->shape != nullptr) facts.shape = {buffer->shape, rank};
  if (buffer->strides != nullptr) facts.strides = {buffer->strides, rank};
  facts.readonly = buffer->readonly != 0;
  facts.is_opaque = is_opaque;
  const bool swapped = facts.itemsize > 1 && facts.format.starts_with(kOtherOrder);
  if (swapped) facts.format.remove_prefix(1);
  Held held{exchange::read(facts), buffer};
  held.view.swapped = swapped;
  // An Arrow buffer has the format "b".
  const bool is_byte = facts.itemsize == 1 && (facts.format == "B" || facts.format == "b");
  held.view.untyped = is_byte && rank <= 1 && !PyObject_HasAttrString(array, "dtype");
  return held;
}

std::optional<Held> read_buffer(PyObject* array) {
  return read_buffer_as(array, false);
}

// The dtype attribute of an array whose dtype has no buffer format and no typestr.
std::optional<exchange::Dtype> foreign_dtype(PyObject* array) {
  const Ref dtype = optional_attribute(array, "dtype");
  if (!dtype) return {};
  const std::string text = text_of(dtype.get());
  unsigned code = 0, bits = 0, lanes = 0;
  // The native consumer's text for a DLDataType that NumPy has no name for.
  if (std::sscanf(text.c_str(), "dlpack(%u,%u,%u)", &code, &bits, &lanes) == 3) {
    return exchange::Dtype{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits),
                           static_cast<std::uint16_t>(lanes)};
  }
  try {
    const exchange::Dtype found = exchange::dtype_from_name(text);
    return exchange::has_format(found) ? std::nullopt : std::optional(found);
  } catch (const exchange::ViewError&) {
    return {};
  }
}

// Arrays of ml_dtypes in NumPy, and arrays of the native consumer without a format, can be read as
// integers with the same bits.
std::optional<Held> read_bits(PyObject* array) {
  const std::optional<exchange::Dtype> dtype = foreign_dtype(array);
  if (!dtype) return {};
  // An element of fewer bits than a byte has a byte.
  const int width = std::max(8, dtype->bits * dtype->lanes);
  const Ref view = optional_attribute(array, "view");
  const Ref bits = view ? checked(PyObject_CallFunction(view.get(), "s",
                                                        ("uint" + std::to_string(width)).c_str()))
                        : Ref::borrow(array);
  // A buffer of NumPy's lacks the strides of dimensions of size 1.
  std::optional<Held> held = view ? read_dlpack(bits.get()) : std::nullopt;
  if (!held) held = read_buffer(bits.get());
  if (!held || held->view.dtype.bits != width) return {};
  // JAX's view as bytes packs elements of four bits.
  const Ref shape = optional_attribute(array, "shape");
  if (shape && integers(shape.get()) != held->view.shape) return {};
  held->view.dtype = *dtype;
  return held;
}

// The `data` of an `__array_interface__` is a pair of address and read-only flag, or a buffer.
std::optional<Held> interface_data(PyObject* data) {
  if (!PyTuple_Check(data) || PyTuple_Size(data) != 2) return read_buffer(data);
  Held held;
  held.view.address = PyLong_AsUnsignedLongLong(PyTuple_GetItem(data, 0));
  held.view.readonly = PyObject_IsTrue(PyTuple_GetItem(data, 1)) == 1;
  if (PyErr_Occurred()) throw fetch_failure();
  return held;
}

// The result owns the buffer that the dict refers to, if any.
std::optional<Held> read_dict(PyObject* dict) {
  PyObject* data = PyDict_GetItemString(dict, "data");
  PyObject* typestr = PyDict_GetItemString(dict, "typestr");
  PyObject* shape = PyDict_GetItemString(dict, "shape");
  PyObject* strides = PyDict_GetItemString(dict, "strides");
  if (data == nullptr || typestr == nullptr || shape == nullptr) return {};
  std::optional<Held> held = interface_data(data);
  if (!held) return {};
  const std::string type = text_of(typestr);
  const std::vector<std::int64_t> lengths = integers(shape);
  std::vector<std::int64_t> steps;
  exchange::InterfaceFacts facts;
  facts.address = held->view.address;
  facts.readonly = held->view.readonly;
  facts.typestr = type;
  facts.shape = lengths;
  if (strides != nullptr && strides != Py_None) facts.strides = steps = integers(strides);
  held->view = exchange::read(facts);
  return held;
}

std::optional<Held> read_interface(PyObject* array) {
  const Ref dict = optional_attribute(array, "__array_interface__");
  if (!dict || !PyDict_Check(dict.get())) return {};
  std::optional<Held> held = read_dict(dict.get());
  if (held && !held->keeper) held->keeper = keeper_of(Ref::borrow(array));
  return held;
}

// Only a capsule without a name holds a PyArrayInterface.
View view_of_struct(PyObject* capsule) {
  const void* content = PyCapsule_GetPointer(capsule, nullptr);
  if (content == nullptr) {
    PyErr_Clear();
    throw Failure{Outcome::wrong, "", "not an `__array_struct__` capsule: " + repr_of(capsule)};
  }
  return exchange::read(*static_cast<const exchange::ArrayStruct*>(content));
}

std::optional<Held> read_struct(PyObject* array) {
  Ref capsule = optional_attribute(array, "__array_struct__");
  if (!capsule || !PyCapsule_CheckExact(capsule.get())) return {};
  View view = view_of_struct(capsule.get());
  return Held{std::move(view), keeper_of(std::move(capsule))};
}

// `__cuda_array_interface__` has no device. It comes from the array's own attribute or from the
// driver.
exchange::Device device_behind(PyObject* array, std::uintptr_t address) {
  if (const std::optional<exchange::Device> stated = stated_device(array)) return *stated;
  return device_of_address(address);
}

std::optional<Held> read_cuda_interface(PyObject* array) {
  const Ref dict = optional_attribute(array, "__cuda_array_interface__");
  if (!dict || !PyDict_Check(dict.get())) return {};
  std::optional<Held> held = read_dict(dict.get());
  if (!held) return {};
  held->view.device = device_behind(array, held->view.address);
  held->keeper = keeper_of(Ref::borrow(array));
  return held;
}

// A legacy struct has no flag, so its view is not read-only.
std::optional<Held> read_versioned(PyObject* array) {
  Ref capsule = export_capsule(array);
  if (!capsule || !PyCapsule_IsValid(capsule.get(), "dltensor_versioned")) return {};
  View view = view_of_capsule(capsule.get());
  return Held{std::move(view), keeper_of(std::move(capsule))};
}

}  // namespace

Writable writable_of(PyObject* array, std::uintptr_t address) {
  Writable found = Writable::unknown;
  for (const auto reader :
       {read_versioned, read_buffer, read_interface, read_struct, read_cuda_interface}) {
    try {
      const std::optional<Held> held = reader(array);
      if (!held || held->view.address != address) continue;
      if (held->view.readonly) return Writable::no;
      found = Writable::yes;
    } catch (const Failure&) {
    } catch (const exchange::ViewError&) {
    }
  }
  return found;
}

namespace {

using Reader = std::optional<Held> (*)(PyObject*);
constexpr std::array<Reader, 6> kReaders{read_dlpack,    read_bits,   read_buffer,
                                         read_interface, read_struct, read_cuda_interface};

// Reads through one protocol. Returns nothing, and perhaps the reason, if it does not work.
std::optional<Held> try_read(Reader reader, PyObject* array, std::optional<Failure>& why_not) {
  try {
    try {
      return reader(array);
    } catch (const exchange::ViewError& error) {
      unreadable(error);
    }
  } catch (const Failure& failure) {
    // A property that raises counts as absent.
    if (failure.outcome != Outcome::refused) why_not = failure;
  }
  return {};
}

}  // namespace

Held read_array(PyObject* array) {
  Failure unread{Outcome::unproven, "",
                 std::string("no protocol reads the memory of a ") + Py_TYPE(array)->tp_name};
  for (const Reader reader : kReaders) {
    std::optional<Failure> why_not;
    if (std::optional<Held> held = try_read(reader, array, why_not)) return *std::move(held);
    // Another protocol may describe the array. An impossible description is reported only if none
    // does.
    if (why_not && unread.outcome == Outcome::unproven) unread = *why_not;
  }
  if (unread.outcome == Outcome::unproven) {
    std::optional<Failure> why_not;
    const Reader opaque = [](PyObject* object) { return read_buffer_as(object, true); };
    if (std::optional<Held> held = try_read(opaque, array, why_not)) return *std::move(held);
  }
  throw Failure(unread);
}

std::vector<Held> read_through_each(PyObject* array) {
  std::vector<Held> all;
  for (const Reader reader : kReaders) {
    std::optional<Failure> why_not;
    if (std::optional<Held> held = try_read(reader, array, why_not)) all.push_back(*held);
  }
  return all;
}

View with_own_strides(View view, PyObject* array) {
  const std::vector<std::int64_t> own = own_strides(array, view.element_bytes());
  if (own.size() != view.shape.size()) return view;
  for (std::size_t d = 0; d < own.size(); ++d) {
    if (view.shape[d] == 1) view.strides[d] = own[d];
  }
  return view;
}

bool has_lost_dtype(PyObject* array, const exchange::View& expected) {
  std::optional<Failure> why_not;
  const std::optional<Held> held = try_read(read_buffer, array, why_not);
  return held && held->view.untyped &&
         (held->view.dtype != expected.dtype || held->view.shape != expected.shape);
}

std::optional<exchange::Device> stated_device(PyObject* array) {
  const Ref method = optional_attribute(array, "__dlpack_device__");
  if (!method) return {};
  const std::vector<std::int64_t> pair = integers(checked(PyObject_CallNoArgs(method.get())).get());
  if (pair.size() != 2) return {};
  return exchange::Device{static_cast<std::int32_t>(pair[0]), static_cast<std::int32_t>(pair[1])};
}

exchange::View view_of_description(PyObject* exported) {
  if (PyDict_Check(exported)) {
    // The dict owns the buffer that it refers to.
    if (std::optional<Held> held = read_dict(exported)) return std::move(held->view);
  }
  if (PyCapsule_CheckExact(exported)) return view_of_struct(exported);
  return read_array(exported).view;
}

}  // namespace dlbench::worker
