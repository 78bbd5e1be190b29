#pragma once

#include "device/about.hpp"
#include "device/cuda_api.hpp"
#include "device/opening.hpp"

namespace dlbench::device::cuda {

/// The CUDA driver of this process, as far as it could be opened.
struct Driver {
  Library library;
  Api api;
  Backend backend;
  Table table;

  Driver();

  FirstCalls load();
};

/// Opened by the first call. Call it after the libraries whose driver is to be shared were
/// imported.
Driver& driver();

/// The state for an error of the first calls; `node` is the device node that a user needs access to
/// (/dev/nvidiactl).
State state_of(Code, Access node) noexcept;

/// "CUDA_ERROR_STUB_LIBRARY"; "CUDA error" where the driver has no name for it.
const char* name_of(const Api&, Code);

/// The functions of the table that the driver does not have.
void fill(Table&, const Api&);

About about(const Driver&);

/// The delay kernel in the current context, loaded at its first use on each device.
Code delay(Stream, std::int64_t ns, Address stamps, Address out, unsigned value);

}  // namespace dlbench::device::cuda
