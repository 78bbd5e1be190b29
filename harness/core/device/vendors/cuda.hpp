#pragma once

#include "device/about.hpp"
#include "device/opening.hpp"
#include "device/vendors/cuda_api.hpp"

namespace dlbench::device::cuda {

/// The beginning of the driver's file name.
inline constexpr const char* family = "libcuda.so";

/// The CUDA driver of this process: its functions and state. Never destroyed.
struct Driver {
  Library library;
  Api api;
  Backend backend;
  Table table;

  Driver();

  FirstCalls load();
};

/// Opens the driver on the first call. Call it after the libraries that share the driver are
/// imported.
Driver& driver();

/// The state for an error of the first calls. `node` is the access to the device node
/// (/dev/nvidiactl).
State state_of(Code, Access node) noexcept;

/// "CUDA_ERROR_STUB_LIBRARY"; "CUDA error" if the driver has no name for the code.
const char* name_of(const Api&, Code);

/// Fills the table with the driver's functions, and with dlbench's where the driver has none.
void fill(Table&, const Api&);

About about(const Driver&);

/// Launches the delay kernel in the current context. The kernel is loaded on first use on each
/// device.
Code delay(Stream, std::int64_t ns, Address stamps, Address out, unsigned value);

}  // namespace dlbench::device::cuda
