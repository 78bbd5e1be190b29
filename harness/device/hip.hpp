#pragma once

#include "device/about.hpp"
#include "device/hip_api.hpp"
#include "device/opening.hpp"

namespace dlbench::device::hip {

/// The HIP runtime of this process as far as it could be opened.
struct Runtime {
  Library library;
  Api api;
  Backend backend;
  Table table;
  int version = 0;

  Runtime();

  FirstCalls load();
};

/// Opened by the first call: after the libraries whose runtime is to be shared were imported.
Runtime& runtime();

/// What an error of the first call means; `node` is what lets a user in (/dev/kfd).
State state_of(Code, Access node) noexcept;

/// "hipErrorNoDevice".
const char* name_of(const Api&, Code);

/// The table: the runtime's own functions, and ours where it has none.
void fill(Table&, const Api&);

About about(const Runtime&);

/// The delay kernel, compiled by hiprtc and loaded at its first use on each device.
Code delay(Stream, std::int64_t ns, Address stamps, Address out, unsigned value);

}  // namespace dlbench::device::hip
