#pragma once

#include "device/table.hpp"

/// What all fake libraries share: faults on request, and a count of each call.
///
/// DLBENCH_FAKE_FAIL=cuEventRecord=700@2,cuMemAlloc=2  the second cuEventRecord and all later ones
///                                      give 700, each cuMemAlloc 2; `*` is every function. After
///                                      an error of a kernel (700, 719, ...) each call in its
///                                      context gives that. A negative code raises that signal: -11
///                                      crashes, -19 hangs.
/// DLBENCH_FAKE_DEVICES=0               how many devices there are (1). CUDA_VISIBLE_DEVICES,
///                                      HIP_VISIBLE_DEVICES and ROCR_VISIBLE_DEVICES hide some of
///                                      them, as they do with the vendors' drivers: by number, or
///                                      by
/// DLBENCH_FAKE_INSTANCE=MIG-a1         the name of a part of a device.
/// DLBENCH_FAKE_MODE=3                  their compute mode, 3 is exclusive-process (0).
/// DLBENCH_FAKE_LOST=PATH@900           the devices are lost in the 900th call of a process, which
///                                      makes the file PATH. While it exists each call ends with
///                                      999, and counting the devices with 100.
/// DLBENCH_FAKE_LATE=cuEventRecord@5    keeps the host for 300 ms in that function's fifth call.
/// DLBENCH_FAKE_LOG=1                   names each call on stderr.
///
/// The fake devices are as strict as real ones unless a test asks for less. Each number is read
/// where it is used, so that a test can also set it inside a process.
/// DLBENCH_FAKE_QUEUES=2                hardware queues of a device (CUDA 8, HIP 4, or what
///                                      CUDA_DEVICE_MAX_CONNECTIONS and GPU_MAX_HW_QUEUES say).
///                                      CUDA's streams take them in turn, as they are created;
///                                      HIP's take the one that the fewest streams have. A
///                                      context's default stream is the first. Streams that share
///                                      one run in order of submission. 0: each stream has its own.
/// HIP_HOST_COHERENT=1                  as ROCm's own: pinned memory without a flag is coherent
///                                      (0). Otherwise the host sees what a device wrote there when
///                                      it has waited for the device.
/// DLBENCH_FAKE_MEMORY_MB=1000          memory of each device (16384), and
/// DLBENCH_FAKE_CONTEXT_MB=500          what a context takes of it (400).
/// DLBENCH_FAKE_MEMORY_FILE=PATH        all processes with that name share the devices: their
///                                      memory, and a device whose mode lets one process in.
/// DLBENCH_FAKE_CACHE_MB=40             a device's second cache (0).
/// DLBENCH_FAKE_WAIT_MS=100             what the host takes to see that its wait is over (0).
/// DLBENCH_FAKE_DRIVER=11040            version of the CUDA driver (13000): it has no later
///                                      functions.
/// DLBENCH_FAKE_HANDLES=1               a handle that is no stream's or event's raises SIGSEGV,
///                                      because CUDA leaves its use undefined (0). Otherwise the
///                                      call ends with 400, as HIP's does.
/// DLBENCH_FAKE_PENDING=8               work that a hardware queue holds (1024); beyond it the host
///                                      waits.
///
/// Freed memory keeps its content, and the next allocation of its size gets it. An event with a
/// time stamp costs its stream 2 us, and so an empty pair measures that. The timer that kernels
/// read has steps of 1 us, the stamps of events half of it. The host waits for asynchronous copies
/// from and to pageable memory.
namespace dlbench::fake {

using device::Code;

/// Counts a call; gives the error that it has to end with, 0: none.
Code called(const char* name);

/// The number in an environment variable.
int mode(const char* variable, int otherwise);

/// No machine has more.
inline constexpr int most_devices = 16;

/// DLBENCH_FAKE_DEVICES.
int all_devices();
/// As many of `all` as a vendor's variable shows; all where it is not set.
int visible_devices(const char* variable, int all);
int compute_mode();
int cache_bytes();
bool logging();

/// What a code object of the fake hiprtc begins with, before its architecture, a line feed and the
/// source.
inline constexpr const char* code_object_begin =
    "\x7F"
    "ELF ";

}  // namespace dlbench::fake

#define DLBENCH_FAKE_EXPORT extern "C" __attribute__((visibility("default")))

/// The same from inside a process: replaces DLBENCH_FAKE_FAIL; nullptr: nothing fails.
DLBENCH_FAKE_EXPORT void dlbench_fake_fail(const char* faults);
/// How often a function was called since the last dlbench_fake_fail.
DLBENCH_FAKE_EXPORT unsigned dlbench_fake_calls(const char* name);
