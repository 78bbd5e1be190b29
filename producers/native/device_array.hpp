#pragma once

#include "array.hpp"
#include "deposit.hpp"
#include "source.hpp"

namespace dlbench::native {

/// The behavior of an array on a device. All values except the defaults are faults, for the
/// fault-injecting adapter.
struct DeviceBehavior {
  enum class Waits { consumer_stream, none, wrong_stream, host };
  Waits waits = Waits::consumer_stream;
  bool other_device = false;  ///< reports another device
  bool wrong_copy = false;    ///< a copy to the CPU has another first element
  unsigned interface = 3;     ///< version of `__cuda_array_interface__`; 2 has no stream
};

/// The producer's Python object for memory of a device: device, pinned or managed memory.
struct DeviceArray {
  Array array;
  Place* place;
  device::Memory kind;
  DeviceBehavior device_behavior;
  device::Stream announced;  // the stream in array.interface
};

inline PyTypeObject device_array_type{};

inline DeviceArray& device_array_of(PyObject* self) {
  return *reinterpret_cast<DeviceArray*>(self);
}

inline PyObject* new_device_array(Block::Owner block, Place& place, device::Memory kind,
                                  DeviceBehavior device_behavior) {
  PyObject* self = device_array_type.tp_alloc(&device_array_type, 0);
  if (self == nullptr) return nullptr;
  DeviceArray& made = device_array_of(self);
  made.array.block = block.release();
  made.place = &place;
  made.kind = kind;
  made.device_behavior = device_behavior;
  return self;
}

/// A copy of a buffer in a device's memory, complete when this returns; null with an exception set.
inline PyObject* copy_to_device(const Source& source, Place& place, device::Memory kind,
                                DeviceBehavior device_behavior) {
  const Layout& layout = source.layout();
  const device::Entered inside = place.enter();
  if (!place.is_entered(inside)) return nullptr;
  Block::Owner block = device_block(layout, source.data(), place, kind);
  device::Stream stream = nullptr;
  if (!block || !place.stream(stream) ||
      !place.copy(block->address() + layout.low(), source.data() + layout.low(), block->extent(),
                  stream) ||
      !place.finish(stream)) {
    return nullptr;
  }
  return new_device_array(std::move(block), place, kind, device_behavior);
}

/// False with ValueError set for a word other than "device", "pinned" and "managed".
inline bool read_memory(const char* word, device::Memory& kind) {
  const std::string_view requested(word);
  if (requested == "device")
    kind = device::Memory::Device;
  else if (requested == "pinned")
    kind = device::Memory::Pinned;
  else if (requested == "managed")
    kind = device::Memory::Managed;
  else {
    PyErr_Format(PyExc_ValueError, "memory must be 'device', 'pinned' or 'managed', not '%s'",
                 word);
    return false;
  }
  return true;
}

inline void free_device_array(PyObject* self) {
  DeviceArray& dying = device_array_of(self);
  Py_XDECREF(dying.array.interface);
  const Block::Owner dropped(dying.array.block);
  Py_TYPE(self)->tp_free(self);
}

}  // namespace dlbench::native
