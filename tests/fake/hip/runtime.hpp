#pragma once

#include "calls.hpp"
#include "device.hpp"

/// The HIP runtime of ROCm 6 over the fake devices. Each function can fail on request.
namespace dlbench::fake::hip {

using device::Address;
using device::Code;
using device::Event;
using device::Stream;

inline constexpr Code no_device = 100;
inline constexpr Code invalid_device = 101;
inline constexpr Code not_found = 500;

/// Keeps an error as the thread's last one.
Code kept(Code);

/// Makes the thread's device current for the fake devices.
void enter();

/// act() on the thread's device, unless there is none or this call has to fail.
template <typename Act>
Code run(const char* name, Act&& act) {
  if (const Code code = called(name)) return kept(code);
  if (device_count() == 0) return kept(no_device);
  enter();
  return kept(act());
}

/// A function that the fake devices have just so.
template <typename... A>
Code forward(const char* name, Code (*function)(A...), A... arguments) {
  return run(name, [&] { return function(arguments...); });
}

inline Address number(const void* address) {
  return reinterpret_cast<std::uintptr_t>(address);
}

}  // namespace dlbench::fake::hip
