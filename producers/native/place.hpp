#pragma once

#include <dlpack/dlpack.h>

#include <charconv>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "device/owners.hpp"
#include "device/shared.hpp"
#include "python.hpp"

namespace dlbench::native {

/// CUDA_ERROR_OUT_OF_MEMORY and hipErrorOutOfMemory.
inline constexpr device::Code out_of_memory = 2;

/// Returns true if `code` is 0. Otherwise sets MemoryError if the device has no memory left, or
/// RuntimeError: "sim: stream wait: invalid handle".
inline bool good(const device::Table& table, const char* what, device::Code code) {
  if (code == 0) [[likely]]
    return true;
  const char* name = table.error_name != nullptr ? table.error_name(code) : nullptr;
  PyErr_Format(code == out_of_memory ? PyExc_MemoryError : PyExc_RuntimeError, "%s: %s: %s (%d)",
               table.name.data(), what, name != nullptr ? name : "error", code);
  return false;
}

/// A device of the native producer or consumer: the device table, and this module's stream. Never
/// destroyed, because deleters may be called at any time.
class Place {
 public:
  /// The device with this name ("cuda:0"); null with an exception set if it is not available.
  static Place* named(std::string_view word) {
    const std::size_t colon = word.find(':');
    int ordinal = 0;
    if (colon != std::string_view::npos) {
      const char* end = word.data() + word.size();
      const auto read = std::from_chars(word.data() + colon + 1, end, ordinal);
      if (read.ptr != end || ordinal < 0)
        return no_device(word, "not a device; allowed: cpu, cuda:0");
    }
    return of(word.substr(0, colon), ordinal);
  }

  /// The device of some memory; null with an exception set for the CPU and for unknown devices.
  static Place* at(DLDevice where) {
    switch (where.device_type) {
      case kDLCUDA:
      case kDLCUDAHost:
      case kDLCUDAManaged:
        return of("cuda", where.device_id);
      case kDLROCM:
      case kDLROCMHost:
        return of("rocm", where.device_id);
      case kDLExtDev:
        return of("sim", where.device_id);
      default:
        PyErr_Format(PyExc_BufferError, "native has no device (%d, %d)",
                     static_cast<int>(where.device_type), static_cast<int>(where.device_id));
        return nullptr;
    }
  }

  const device::Table& table() const { return table_; }
  int ordinal() const { return ordinal_; }
  bool is_rocm() const { return table_.dl_device == kDLROCM; }
  std::string word() const { return std::string(table_.name) + ":" + std::to_string(ordinal_); }

  DLDevice device(device::Memory kind) const {
    const int type = kind == device::Memory::Pinned    ? table_.dl_pinned
                     : kind == device::Memory::Managed ? table_.dl_managed
                                                       : table_.dl_device;
    return {static_cast<DLDeviceType>(type), ordinal_};
  }

  /// Makes the device current for this thread while the result lives.
  [[nodiscard]] device::Entered enter() const { return {table_, ordinal_}; }
  /// False with an exception set.
  bool is_entered(const device::Entered& inside) const {
    return good(table_, "context", inside.code());
  }

  /// The stream of this module, made on first use if none was set; false with an exception set.
  bool stream(device::Stream& mine) {
    if (!has_stream_) [[unlikely]] {
      const device::Entered inside = enter();
      if (!is_entered(inside) ||
          !good(table_, "stream", table_.stream_create(&stream_, device::non_blocking))) {
        return false;
      }
      has_stream_ = true;
    }
    mine = stream_;
    return true;
  }
  void set_stream(device::Stream wanted) {
    stream_ = wanted;
    has_stream_ = true;
  }

  /// Makes `later` wait for the present work of `earlier`; the host does not wait.
  bool order(device::Stream earlier, device::Stream later) {
    if (earlier == later) return true;
    if (event_ == nullptr) [[unlikely]] {
      const device::Entered inside = enter();
      if (!is_entered(inside) ||
          !good(table_, "event", table_.event_create(&event_, device::no_timing))) {
        return false;
      }
    }
    return good(table_, "event record", table_.event_record(event_, earlier)) &&
           good(table_, "stream wait", table_.stream_wait(later, event_, 0));
  }

  /// Waits, without the GIL; false with an exception set.
  bool finish(device::Stream stream) const {
    device::Code code = 0;
    Py_BEGIN_ALLOW_THREADS;
    code = table_.stream_synchronize(stream);
    Py_END_ALLOW_THREADS;
    return good(table_, "stream synchronize", code);
  }

  /// A copy in the stream's order; false with an exception set.
  bool copy(const void* to, const void* from, std::size_t bytes, device::Stream stream) const {
    if (bytes == 0) return true;
    return good(table_, "copy", table_.copy(number(to), number(from), bytes, stream));
  }

  static device::Address number(const void* pointer) {
    return reinterpret_cast<std::uintptr_t>(pointer);
  }

 private:
  Place(const device::Table& table, int ordinal) : table_(table), ordinal_(ordinal) {}

  static Place* no_device(std::string_view word, const std::string& why) {
    const std::string text = std::string(word) + ": " + why;
    PyErr_SetString(PyExc_RuntimeError, text.c_str());
    return nullptr;
  }

  static Place* of(std::string_view kind, int ordinal) {
    static auto& known = *new std::map<std::pair<std::string, int>, Place*>;
    Place*& place = known[{std::string(kind), ordinal}];
    if (place != nullptr) [[likely]]
      return place;
    static const device::Shared* room = nullptr;
    if (room == nullptr) {
      const Ref module(PyImport_ImportModule(device::shared_module));
      if (!module) return nullptr;
      room = static_cast<const device::Shared*>(PyCapsule_Import(device::shared_name, 0));
      if (room == nullptr) return nullptr;
    }
    const device::Backend* backend = room->backend(kind);
    if (backend == nullptr) return no_device(kind, "native does not support this device");
    if (backend->table == nullptr) return no_device(kind, backend->detail);
    if (ordinal >= backend->count) {
      return no_device(kind, "no device " + std::to_string(ordinal) +
                                 "; number of devices: " + std::to_string(backend->count));
    }
    auto made = std::unique_ptr<Place>(new Place(*backend->table, ordinal));
    if (!made->is_entered(made->enter())) return nullptr;
    return place = made.release();
  }

  const device::Table& table_;
  const int ordinal_;
  device::Stream stream_ = nullptr;
  bool has_stream_ = false;
  device::Event event_ = nullptr;
};

/// A stream as an int of Python; false with an exception set.
inline bool stream_from(PyObject* number, device::Stream& stream) {
  stream = PyLong_AsVoidPtr(number);
  return stream != nullptr || PyErr_Occurred() == nullptr;
}

/// stream(device): the stream of this module on the device, as an int.
inline PyObject* own_stream(PyObject*, PyObject* word) {
  const char* text = PyUnicode_AsUTF8(word);
  Place* place = text == nullptr ? nullptr : Place::named(text);
  device::Stream stream = nullptr;
  if (place == nullptr || !place->stream(stream)) return nullptr;
  return PyLong_FromVoidPtr(stream);
}

/// set_stream(device, handle): sets that stream.
inline PyObject* set_stream(PyObject*, PyObject* arguments) {
  const char* word = nullptr;
  PyObject* handle = nullptr;
  if (!PyArg_ParseTuple(arguments, "sO:set_stream", &word, &handle)) return nullptr;
  Place* place = Place::named(word);
  device::Stream stream = nullptr;
  if (place == nullptr || !stream_from(handle, stream)) return nullptr;
  place->set_stream(stream);
  Py_RETURN_NONE;
}

inline constexpr PyMethodDef own_stream_method{
    "stream", &own_stream, METH_O,
    "stream(device, /)\n--\n\nThe stream that this module works on, made on first use."};
inline constexpr PyMethodDef set_stream_method{
    "set_stream", &set_stream, METH_VARARGS,
    "set_stream(device, handle, /)\n--\n\nSets the stream that this module works on."};

}  // namespace dlbench::native
