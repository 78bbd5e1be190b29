#pragma once

#include <cstdlib>

#include "calls.hpp"
#include "gpu/device.hpp"

/// The HIP runtime of ROCm 6 over the fake devices. Each function can fail on request.
namespace dlbench::fake::hip {

using device::Address;
using device::Code;
using device::Event;
using device::Stream;

inline constexpr Code no_device = 100;
inline constexpr Code invalid_device = 101;

/// The architecture of each device, as gcnArchName has it.
inline constexpr const char* arch = "gfx942:sramecc+:xnack-";

/// What ROCr's variable leaves, and of these what HIP's shows, or CUDA's where HIP's is empty. An
/// empty one of ROCr's hides all, an empty one of the others hides none.
inline int visible_devices() {
  const auto is_empty = [](const char* variable) {
    const char* const text = std::getenv(variable);
    return text == nullptr || *text == '\0';
  };
  const int left = fake::visible_devices("ROCR_VISIBLE_DEVICES", all_devices());
  for (const char* variable : {"HIP_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    if (!is_empty(variable)) return fake::visible_devices(variable, left);
  }
  return left;
}

/// Keeps an error as the thread's last one.
Code kept(Code);

/// Whether an error is one that a device does not recover from.
constexpr bool is_sticky(Code code) {
  return code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719);
}

/// Makes the thread's device current for the fake devices, with a context.
Code enter();

/// act() unless there is no device or this call has to fail.
template <typename Act>
Code run_without_context(const char* name, Act&& act) {
  if (const Code code = called(name)) {
    if (is_sticky(code) && current() != nullptr) keep_fault(*current(), code);
    return kept(code);
  }
  return kept(hip::visible_devices() == 0 ? no_device : act());
}

/// The same on the thread's device, whose context the first such call makes.
template <typename Act>
Code run(const char* name, Act&& act) {
  return run_without_context(name, [&]() -> Code {
    if (const Code code = enter()) return code;
    if (const Code code = current()->fault) return code;
    return act();
  });
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
