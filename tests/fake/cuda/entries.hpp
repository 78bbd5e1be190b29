#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "calls.hpp"
#include "gpu/device.hpp"

/// A CUDA driver over the fake devices. Its functions are found by cuGetProcAddress, as those
/// of a driver are; each can fail on request, and each asks for what a driver asks for.
namespace dlbench::fake::cuda {

using device::Address;
using device::Code;
using device::Event;
using device::Stream;

inline constexpr Code not_initialized = 3;
inline constexpr Code invalid_device = 101;
inline constexpr Code invalid_context = 201;
inline constexpr Code context_destroyed = 709;

/// 1000 * major + 10 * minor.
int driver_version();

inline int visible_devices() {
  return fake::visible_devices("CUDA_VISIBLE_DEVICES", all_devices());
}

/// What a function asks for before it does anything.
enum class Needs { Nothing, Init, Context };

/// Whether that is given on this thread, as the error code that says it is not.
Code check(Needs);

/// Whether an error is one that a context does not recover from.
constexpr bool is_sticky(Code code) {
  return code == 700 || code == 702 || code == 710 || (code >= 714 && code <= 719);
}

struct Entry {
  const char* name;
  void* function;
  /// The version of CUDA that brought it; of several with one name a caller gets the newest that
  /// is not newer than the version that it asks for.
  int since;
};

std::vector<Entry> device_entries();
std::vector<Entry> context_entries();
std::vector<Entry> stream_entries();
std::vector<Entry> memory_entries();
std::vector<Entry> copy_entries();
std::vector<Entry> module_entries();

template <std::size_t size>
struct Name {
  char text[size];
  // NOLINTNEXTLINE: a name is written where it is used
  constexpr Name(const char (&from)[size]) { std::copy_n(from, size, text); }
};

template <Name name, Needs needs>
Code admit() {
  Context* const context = needs == Needs::Context ? current() : nullptr;
  if (const Code code = called(name.text)) {
    if (context != nullptr && is_sticky(code)) keep_fault(*context, code);
    return code;
  }
  if (const Code code = check(needs)) return code;
  return context == nullptr ? 0 : Code{context->fault};
}

template <Name name, Needs needs, auto function>
struct Call;

template <Name name, Needs needs, typename... A, Code (*function)(A...)>
struct Call<name, needs, function> {
  static Code call(A... arguments) {
    if (const Code code = admit<name, needs>()) return code;
    return function(arguments...);
  }
};

template <Name name, auto function, Needs needs = Needs::Context>
Entry entry(int since) {
  static const Name kept = name;
  return {kept.text, reinterpret_cast<void*>(&Call<name, needs, function>::call), since};
}

}  // namespace dlbench::fake::cuda
