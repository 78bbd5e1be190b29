#pragma once

#include "calls.hpp"
#include "device/sim.hpp"

/// The HIP runtime of ROCm 6 over the simulated device. Each function can fail on request.
namespace dlbench::fake::hip {

using device::Address;
using device::Code;
using device::Event;
using device::Stream;
using device::Table;

inline constexpr Code invalid_value = 1;
inline constexpr Code no_device = 100;
inline constexpr Code invalid_device = 101;
inline constexpr Code invalid_handle = 400;
inline constexpr Code not_found = 500;

/// Keeps an error as the thread's last one.
Code kept(Code);

/// act() unless there is no device or this call has to fail.
template <typename Act>
Code run(const char* name, Act&& act) {
  if (const Code code = called(name)) return kept(code);
  return device_count() == 0 ? kept(no_device) : kept(act());
}

/// A function that the simulated device's table has just so.
template <typename... A>
Code forward(const char* name, Code (*Table::*member)(A...), A... arguments) {
  return run(name, [&] { return (device::sim::table().*member)(arguments...); });
}

inline Address number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace dlbench::fake::hip
