#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace dlbench::device {

/// The vendor's own error code; 0 is success everywhere.
using Code = int;

/// The vendor's own handles. Stream 0 is the default stream; 1 (legacy) and 2 (per-thread) have the
/// meaning of the array API standard (`__dlpack__`, stream).
using Stream = void*;
using Event = void*;
using Graph = void*;
/// What is current for a thread: a context on CUDA, a device's ordinal elsewhere.
using Current = void*;
/// A CUdeviceptr; on HIP and sim the same number is a pointer.
using Address = unsigned long long;

/// The kind of memory of an address, as in DLPack's device types: kDLCPU, kDLCUDAHost, kDLCUDA,
/// kDLCUDAManaged.
enum class Memory { Pageable, Pinned, Device, Managed };

/// Flags of a stream that does not wait for the legacy one and of an event without time stamps; the
/// same numbers in CUDA and HIP (cuda.h: CU_STREAM_NON_BLOCKING, CU_EVENT_DISABLE_TIMING).
inline constexpr unsigned non_blocking = 1;
inline constexpr unsigned no_timing = 2;

/// The mode and the states of a stream capture; the same numbers in CUDA and HIP (cuda.h:
/// CUstreamCaptureMode, CUstreamCaptureStatus).
inline constexpr int capture_global = 0;
inline constexpr int not_capturing = 0;
inline constexpr int capture_invalidated = 2;

/// The result of stream_query and event_query while work is pending (CUDA_ERROR_NOT_READY,
/// hipErrorNotReady).
inline constexpr Code not_ready = 600;

/// One kind of device, as functions. Functions in timed code are the vendor's own, so that a call
/// costs one indirect jump; others may be dlbench's. All use the device that `enter` made current
/// for the calling thread. Sizes are in bytes.
struct Table {
  /// dlbench's name in `--devices` and in cells: cuda, rocm, sim.
  std::string_view name;
  /// DLDeviceType of its device memory, its pinned memory and its managed memory; 0: none.
  int dl_device = 0;
  int dl_pinned = 0;
  int dl_managed = 0;

  const char* (*error_name)(Code) = nullptr;
  Code (*device_count)(int* count) = nullptr;
  /// Makes the primary context of a device current, which the frameworks share.
  Code (*enter)(int ordinal) = nullptr;
  /// Reads what is current for the calling thread (null: nothing), and restores it.
  Code (*current)(Current*) = nullptr;
  Code (*make_current)(Current) = nullptr;
  Code (*synchronize)() = nullptr;

  Code (*stream_create)(Stream*, unsigned flags) = nullptr;
  Code (*stream_destroy)(Stream) = nullptr;
  Code (*stream_synchronize)(Stream) = nullptr;
  Code (*stream_query)(Stream) = nullptr;
  Code (*stream_wait)(Stream, Event, unsigned flags) = nullptr;

  /// Null where the kind of device has no graphs. graph_nodes() with null nodes returns their
  /// number.
  Code (*capture_begin)(Stream, int mode) = nullptr;
  Code (*capture_end)(Stream, Graph*) = nullptr;
  Code (*capture_status)(Stream, int* status) = nullptr;
  Code (*graph_nodes)(Graph, void** nodes, std::size_t* count) = nullptr;
  Code (*graph_destroy)(Graph) = nullptr;

  Code (*event_create)(Event*, unsigned flags) = nullptr;
  Code (*event_destroy)(Event) = nullptr;
  Code (*event_record)(Event, Stream) = nullptr;
  Code (*event_query)(Event) = nullptr;
  Code (*event_synchronize)(Event) = nullptr;
  Code (*event_elapsed)(float* milliseconds, Event begin, Event end) = nullptr;

  Code (*allocate)(Address*, std::size_t) = nullptr;
  Code (*free)(Address) = nullptr;
  Code (*allocate_pinned)(void**, std::size_t) = nullptr;
  Code (*free_pinned)(void*) = nullptr;
  Code (*allocate_managed)(Address*, std::size_t) = nullptr;
  /// Also returns the device of the address; 0 for pageable memory.
  Code (*memory_of)(Memory*, int* ordinal, Address) = nullptr;

  Code (*memory_info)(std::size_t* free, std::size_t* total) = nullptr;
  /// The flags of the context that the device's libraries share, CU_CTX_SCHED_SPIN and others; null
  /// where it has none.
  Code (*context_flags)(unsigned*) = nullptr;
  /// The size of the largest cache that the driver reports; 0: none.
  Code (*cache_bytes)(std::size_t*) = nullptr;

  /// Copies between any two addresses, in the stream's order.
  Code (*copy)(Address to, Address from, std::size_t, Stream) = nullptr;
  Code (*fill32)(Address, unsigned value, std::size_t words, Stream) = nullptr;

  /// Keeps a stream busy for `ns`, then stores `value` at `out` (0: nowhere). Writes begin and end
  /// in device time, in ns, to `stamps`, which the device must be able to write (0: nowhere).
  Code (*delay)(Stream, std::int64_t ns, Address stamps, Address out, unsigned value) = nullptr;
};

/// One line for a call that failed: "cuEventRecord: CUDA_ERROR_LAUNCH_FAILED (719)".
std::string line(const Table&, std::string_view called, Code);
std::string line(std::string_view called, std::string_view error_name, Code);

/// The state of a kind of device: usable, or why not.
enum class State { Ok, NoLibrary, Stub, NoDriver, NoDevice, NoPermission, Failed };

/// "ok", "no-library", "stub", "no-driver", "no-device", "no-permission", "failed".
std::string_view name_of(State) noexcept;

/// A kind of device on this machine.
struct Backend {
  State state = State::NoLibrary;
  /// One line: the message of the loader or the driver; empty if ok.
  std::string detail;
  /// Number of devices; 0 unless ok.
  int count = 0;
  /// Valid for the life of the process if ok; null otherwise and for cpu.
  const Table* table = nullptr;
};

}  // namespace dlbench::device
