#include "device/per_device.hpp"
#include "device/vendors/hip.hpp"

namespace dlbench::device::hip {

namespace {

constexpr Code invalid_value = 1;

const Api& api() {
  return runtime().api;
}

void* pointer(Address address) {
  return reinterpret_cast<void*>(
      static_cast<std::uintptr_t>(address));  // NOLINT(performance-no-int-to-ptr)
}

Address number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

const char* error_name(Code code) {
  const char* const no_delay = why_no_delay(code);
  return no_delay != nullptr ? no_delay : name_of(api(), code);
}

/// Calls a function that creates a context, which hipSetDevice does not do, so that an unusable
/// device fails here and not when a library makes its first array.
Code enter(int ordinal) {
  static PerDevice contexts;
  static char entered;
  if (const Code code = api().set_device(ordinal)) return code;
  void* found = nullptr;
  return contexts.get(ordinal, &found, [](void** made) {
    *made = &entered;
    std::size_t free = 0;
    std::size_t total = 0;
    return api().mem_get_info(&free, &total);
  });
}

Code current(Current* now) {
  Ordinal device = 0;
  const Code code = api().get_device(&device);
  // Null means that no device is current, so device 0 is stored as 1.
  *now = code == 0 ? pointer(static_cast<Address>(device) + 1) : nullptr;
  return code;
}

Code make_current(Current former) {
  return api().set_device(static_cast<Ordinal>(number(former) - 1));
}

Code allocate(Address* made, std::size_t bytes) {
  void* begin = nullptr;
  const Code code = api().malloc(&begin, bytes);
  *made = number(begin);
  return code;
}

Code free_device(Address begin) {
  return api().free(pointer(begin));
}

Code allocate_pinned(void** made, std::size_t bytes) {
  // The host polls stamps that a kernel writes, so the memory must be coherent. Otherwise the host
  // may see writes of a kernel only after it waits for the device.
  return api().host_malloc(made, bytes, portable | mapped | coherent);
}

Code allocate_managed(Address* made, std::size_t bytes) {
  void* begin = nullptr;
  const Code code = api().malloc_managed(&begin, bytes, attach_global);
  *made = number(begin);
  return code;
}

Code memory_of(Memory* kind, int* ordinal, Address address) {
  unsigned managed = 0;
  unsigned type = 0;
  *ordinal = 0;
  // Clears the runtime's last error, which a library might read.
  const auto is_refused = [](Code code) {
    if (code == invalid_value) static_cast<void>(api().get_last_error());
    return code == invalid_value;
  };
  Code code = api().pointer_get_attribute(&managed, is_managed, pointer(address));
  if (code == 0) code = api().pointer_get_attribute(&type, memory_type, pointer(address));
  if (is_refused(code)) {
    *kind = Memory::Pageable;
    return 0;
  }
  if (code != 0) return code;
  const unsigned on_host = runtime().version < renumbered ? 0 : 1;
  *kind = managed != 0          ? Memory::Managed
          : type == on_host     ? Memory::Pinned
          : type == on_host + 1 ? Memory::Device
                                : Memory::Pageable;
  if (*kind == Memory::Pageable) return 0;
  // The kind of memory is known even if it belongs to no device.
  code = api().pointer_get_attribute(ordinal, device_ordinal, pointer(address));
  if (code != 0 || *ordinal < 0) *ordinal = 0;
  return is_refused(code) ? 0 : code;
}

Code copy(Address to, Address from, std::size_t bytes, Stream stream) {
  return api().memcpy_async(pointer(to), pointer(from), bytes, copy_default, stream);
}

Code fill32(Address begin, unsigned value, std::size_t words, Stream stream) {
  return api().memset_d32_async(pointer(begin), static_cast<int>(value), words, stream);
}

/// The runtime has no attribute for a cache beyond the second level (Infinity Cache).
Code cache_bytes(std::size_t* bytes) {
  Ordinal device = 0;
  if (const Code code = api().get_device(&device)) return code;
  int value = 0;
  const Code code = api().device_get_attribute(&value, l2_cache_size, device);
  *bytes = value > 0 ? static_cast<std::size_t>(value) : 0;
  return code;
}

}  // namespace

const char* name_of(const Api& from, Code code) {
  const char* const name = from.get_error_name(code);
  return name != nullptr ? name : "HIP error";
}

void fill(Table& table, const Api& from) {
  table = shared_functions(from);
  table.name = "rocm";
  table.dl_device = 10;  // kDLROCM
  table.dl_pinned = 11;  // kDLROCMHost
  table.dl_managed = 0;  // DLPack has no device type for it
  table.error_name = error_name;
  table.enter = enter;
  table.current = current;
  table.make_current = make_current;
  table.synchronize = from.device_synchronize;
  table.allocate = allocate;
  table.free = free_device;
  table.allocate_pinned = allocate_pinned;
  table.free_pinned = from.host_free;
  table.allocate_managed = allocate_managed;
  table.memory_of = memory_of;
  table.context_flags = from.get_device_flags;
  table.cache_bytes = cache_bytes;
  table.copy = copy;
  table.fill32 = fill32;
  table.delay = delay;
}

}  // namespace dlbench::device::hip
