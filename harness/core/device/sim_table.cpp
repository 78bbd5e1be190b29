#include <algorithm>
#include <cstring>

#include "device/sim.hpp"

namespace dlbench::device::sim {

namespace {

// The same numbers as in CUDA and HIP.
constexpr Code ok = 0;
constexpr Code invalid_value = 1;
constexpr Code out_of_memory = 2;
constexpr Code no_device = 100;
constexpr Code invalid_handle = 400;

Device& device() {
  return Device::instance();
}

template <typename T>
T* pointer(Address address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

Address number(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

Recorded& event(Event handle) {
  return *static_cast<Recorded*>(handle);
}

const char* error_name(Code code) {
  switch (code) {
    case ok:
      return "ok";
    case invalid_value:
      return "invalid value";
    case out_of_memory:
      return "out of memory";
    case no_device:
      return "no such device";
    case invalid_handle:
      return "invalid handle";
    case not_ready:
      return "not ready";
    default:
      return "unknown error";
  }
}

Code device_count(int* count) {
  *count = 1;
  return ok;
}

Code enter(int ordinal) {
  return ordinal == 0 ? ok : no_device;
}

Code current(Current* now) {
  *now = &device();
  return ok;
}

Code make_current(Current) {
  return ok;
}

Code synchronize() {
  device().synchronize();
  return ok;
}

Code stream_create(Stream* made, unsigned flags) {
  *made = device().create((flags & non_blocking) == 0);
  return ok;
}

Code stream_destroy(Stream stream) {
  return device().destroy(static_cast<Queue*>(stream)) ? ok : invalid_handle;
}

Code stream_synchronize(Stream stream) {
  device().at(stream).synchronize();
  return ok;
}

Code stream_query(Stream stream) {
  return device().at(stream).idle() ? ok : not_ready;
}

Code stream_wait(Stream stream, Event waited, unsigned) {
  if (auto mark = event(waited).get()) device().push(stream, [mark] { mark->wait(); });
  return ok;
}

Code event_create(Event* made, unsigned) {
  *made = std::make_unique<Recorded>().release();  // freed by event_destroy
  return ok;
}

Code event_destroy(Event handle) {
  const std::unique_ptr<Recorded> last(static_cast<Recorded*>(handle));
  return ok;
}

Code event_record(Event handle, Stream stream) {
  event(handle).set(device().record(stream));
  return ok;
}

Code event_query(Event handle) {
  const auto mark = event(handle).get();
  return !mark || mark->fired() ? ok : not_ready;
}

Code event_synchronize(Event handle) {
  if (const auto mark = event(handle).get()) mark->wait();
  return ok;
}

Code event_elapsed(float* milliseconds, Event begin, Event end) {
  const auto from = event(begin).get();
  const auto to = event(end).get();
  if (!from || !to) return invalid_handle;
  if (!from->fired() || !to->fired()) return not_ready;
  *milliseconds = static_cast<float>(static_cast<double>(to->at() - from->at()) * 1e-6);
  return ok;
}

Code allocated(Address* made, std::size_t bytes, Memory kind) {
  *made = number(device().allocate(bytes, kind));
  return *made != 0 ? ok : out_of_memory;
}

Code allocate(Address* made, std::size_t bytes) {
  return allocated(made, bytes, Memory::Device);
}

Code allocate_managed(Address* made, std::size_t bytes) {
  return allocated(made, bytes, Memory::Managed);
}

Code allocate_pinned(void** made, std::size_t bytes) {
  *made = device().allocate(bytes, Memory::Pinned);
  return *made != nullptr ? ok : out_of_memory;
}

Code free_pinned(void* begin) {
  device().synchronize();
  return device().free(begin) ? ok : invalid_value;
}

Code free_device(Address begin) {
  return free_pinned(pointer<void>(begin));
}

Code memory_of(Memory* kind, int* ordinal, Address address) {
  *ordinal = 0;
  const auto block = device().block_of(pointer<const void>(address));
  *kind = block ? block->kind : Memory::Pageable;
  return ok;
}

/// Reports a small device, so that the copy floors are quick. The limit is not enforced.
Code memory_info(std::size_t* free, std::size_t* total) {
  *total = std::size_t{256} << 20;
  *free = *total - std::min(*total, device().allocated());
  return ok;
}

Code cache_bytes(std::size_t* bytes) {
  *bytes = 0;
  return ok;
}

Code copy(Address to, Address from, std::size_t bytes, Stream stream) {
  device().push(stream, [=] { std::memcpy(pointer<void>(to), pointer<const void>(from), bytes); });
  return ok;
}

Code fill32(Address begin, unsigned value, std::size_t words, Stream stream) {
  device().push(stream, [=] {
    for (std::size_t i = 0; i < words; ++i) pointer<unsigned>(begin)[i] = value;
  });
  return ok;
}

Code delay(Stream stream, std::int64_t ns, Address stamps, Address out, unsigned value) {
  device().push(stream, [=, spinning = device().spinning] {
    const std::int64_t begin = now();
    pass(ns, spinning);
    if (out != 0) __atomic_store_n(pointer<unsigned>(out), value, __ATOMIC_RELEASE);
    if (stamps != 0) {
      __atomic_store_n(pointer<std::int64_t>(stamps), begin, __ATOMIC_RELAXED);
      __atomic_store_n(pointer<std::int64_t>(stamps) + 1, now(), __ATOMIC_RELEASE);
    }
  });
  return ok;
}

}  // namespace

const Table& table() {
  static const Table made{
      .name = "sim",
      .dl_device = 12,  // kDLExtDev: used by no library
      .dl_pinned = 0,
      .dl_managed = 0,
      .error_name = error_name,
      .device_count = device_count,
      .enter = enter,
      .current = current,
      .make_current = make_current,
      .synchronize = synchronize,
      .stream_create = stream_create,
      .stream_destroy = stream_destroy,
      .stream_synchronize = stream_synchronize,
      .stream_query = stream_query,
      .stream_wait = stream_wait,
      .event_create = event_create,
      .event_destroy = event_destroy,
      .event_record = event_record,
      .event_query = event_query,
      .event_synchronize = event_synchronize,
      .event_elapsed = event_elapsed,
      .allocate = allocate,
      .free = free_device,
      .allocate_pinned = allocate_pinned,
      .free_pinned = free_pinned,
      .allocate_managed = allocate_managed,
      .memory_of = memory_of,
      .memory_info = memory_info,
      .cache_bytes = cache_bytes,
      .copy = copy,
      .fill32 = fill32,
      .delay = delay,
  };
  return made;
}

}  // namespace dlbench::device::sim
