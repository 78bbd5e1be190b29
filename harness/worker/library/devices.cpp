#include "worker/library/devices.hpp"

#include <dlpack/dlpack.h>

#include <charconv>
#include <limits>
#include <memory>

namespace dlbench::worker {
namespace {

const device::Shared& shared() {
  static const auto* room = [] {
    const Ref module = checked(PyImport_ImportModule(device::shared_module));
    const auto* found =
        static_cast<const device::Shared*>(PyCapsule_Import(device::shared_name, 0));
    if (found == nullptr) throw fetch_failure();
    return found;
  }();
  return *room;
}

DeviceAt device_of_kind(const std::string& kind, int ordinal) {
  const device::Backend* backend = shared().backend(kind);
  if (backend == nullptr) return {};
  if (backend->table == nullptr) {
    throw Failure{Outcome::no_device, "",
                  kind + ": " + std::string(name_of(backend->state)) + ": " + backend->detail};
  }
  if (ordinal >= backend->count) {
    throw Failure{Outcome::no_device, "",
                  "no " + kind + ":" + std::to_string(ordinal) + " here: " + kind + " has " +
                      std::to_string(backend->count) +
                      (backend->count == 1 ? " device" : " devices")};
  }
  return {backend->table, ordinal};
}

/// The data of a wait function, stored in the capsule that it is bound to.
struct Wait {
  DeviceAt at;
  device::Stream stream = nullptr;
  bool has_stream = false;
};

PyObject* wait_for_data(PyObject* self, PyObject*) {
  const auto* wait = static_cast<const Wait*>(PyCapsule_GetPointer(self, nullptr));
  if (wait == nullptr) return nullptr;
  const device::Table& table = *wait->at.table;
  device::Code code = 0;
  Py_BEGIN_ALLOW_THREADS;
  // The default stream and the device are those of the current context.
  const device::Entered entered(table, wait->at.ordinal);
  code = entered.code();
  if (code == 0) {
    code = wait->has_stream ? table.stream_synchronize(wait->stream) : table.synchronize();
  }
  Py_END_ALLOW_THREADS;
  if (code == 0) Py_RETURN_NONE;
  return PyErr_Format(PyExc_RuntimeError, "%s: synchronize: %s (%d)", table.name.data(),
                      table.error_name(code), code);
}

PyMethodDef kWaitMethod{"wait_for_data", &wait_for_data, METH_O, nullptr};

}  // namespace

DeviceAt device_named(const std::string& word) {
  const std::size_t colon = word.find(':');
  if (colon == std::string::npos) return {};
  int ordinal = std::numeric_limits<int>::max();  // if the number is invalid or too large
  std::from_chars(word.data() + colon + 1, word.data() + word.size(), ordinal);
  return device_of_kind(word.substr(0, colon), ordinal);
}

void require_context(const std::string& word) {
  try {
    const InDevice inside(device_named(word));
  } catch (Failure& failure) {
    if (failure.outcome == Outcome::refused) failure.outcome = Outcome::no_device;
    throw;
  }
}

DeviceAt device_at(const exchange::Device& where) {
  switch (where.type) {
    case kDLCUDA:
    case kDLCUDAHost:
    case kDLCUDAManaged:
      return device_of_kind("cuda", where.id);
    case kDLROCM:
    case kDLROCMHost:
      return device_of_kind("rocm", where.id);
    case kDLExtDev:
      return device_of_kind("sim", where.id);
    default:
      return {};
  }
}

std::map<std::string, std::vector<std::string>> runtimes_by_kind() {
  std::map<std::string, std::vector<std::string>> runtimes;
  for (const char* kind : {"cuda", "rocm"}) {
    std::vector<std::string> files = shared().loaded_files(kind);
    if (!files.empty()) runtimes[kind] = std::move(files);
  }
  return runtimes;
}

std::optional<MemoryAt> memory_at(const DeviceAt& at, device::Address address) {
  MemoryAt found;
  if (at.table->memory_of(&found.kind, &found.ordinal, address) == 0) return found;
  // Makes a context current if the thread has none. Afterwards the former device is current again.
  const device::Entered inside(*at.table, at.ordinal);
  if (inside.code() != 0) return {};
  if (at.table->memory_of(&found.kind, &found.ordinal, address) != 0) return {};
  return found;
}

exchange::Device device_of_address(std::uintptr_t address) {
  for (const char* kind : {"cuda", "rocm", "sim"}) {
    try {
      const DeviceAt at = device_of_kind(kind, 0);
      const std::optional<MemoryAt> memory = at ? memory_at(at, address) : std::nullopt;
      if (!memory) continue;
      const auto& [held, ordinal] = *memory;
      if (held == device::Memory::Device) return {at.table->dl_device, ordinal};
      // DLPack has no device type for ROCm's managed memory, and libraries export it as ROCm's.
      const int managed = at.table->dl_managed != 0 ? at.table->dl_managed : at.table->dl_device;
      if (held == device::Memory::Managed) return {managed, ordinal};
      if (held == device::Memory::Pinned) return {at.table->dl_pinned, ordinal};
    } catch (const Failure&) {
      continue;
    }
  }
  return {kDLCUDA, 0};
}

void require(const device::Table& table, const char* what, device::Code code) {
  if (code == 0) return;
  const char* name = table.error_name(code);
  throw Failure{code == 2 ? Outcome::out_of_memory : Outcome::refused, "",
                std::string(table.name) + ": " + what + ": " + (name != nullptr ? name : "error") +
                    " (" + std::to_string(code) + ")"};
}

InDevice::InDevice(const DeviceAt& at) {
  if (!at) return;
  // The first call creates a context, which takes long.
  Py_BEGIN_ALLOW_THREADS;
  entered_.emplace(*at.table, at.ordinal);
  Py_END_ALLOW_THREADS;
  require(*at.table, "context", entered_->code());
}

void settle(const DeviceAt& at) {
  const InDevice inside(at);
  device::Code waited = 0;
  Py_BEGIN_ALLOW_THREADS;
  waited = at.table->synchronize();
  Py_END_ALLOW_THREADS;
  require(*at.table, "synchronize", waited);
}

Ref wait_on_device(const DeviceAt& at, PyObject* stream) {
  auto wait = std::make_unique<Wait>(Wait{at, nullptr, stream != nullptr});
  if (stream != nullptr) {
    wait->stream = PyLong_AsVoidPtr(stream);
    if (PyErr_Occurred() != nullptr) throw fetch_failure();
  }
  const Ref capsule = checked(PyCapsule_New(wait.get(), nullptr, [](PyObject* dying) {
    const std::unique_ptr<Wait> gone(static_cast<Wait*>(PyCapsule_GetPointer(dying, nullptr)));
  }));
  wait.release();
  return checked(PyCFunction_New(&kWaitMethod, capsule.get()));
}

}  // namespace dlbench::worker
