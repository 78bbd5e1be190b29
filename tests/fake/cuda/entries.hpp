#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "calls.hpp"
#include "device.hpp"

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
inline constexpr Code not_found = 500;
inline constexpr Code not_supported = 801;

/// What a function asks for before it does anything.
enum class Needs { Nothing, Init, Context };

/// Whether that is given on this thread, as the error code that says it is not.
Code check(Needs);

struct Entry {
  const char* name;
  void* function;
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
  if (const Code code = called(name.text)) return code;
  return check(needs);
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
Entry entry() {
  static const Name kept = name;
  return {kept.text, reinterpret_cast<void*>(&Call<name, needs, function>::call)};
}

}  // namespace dlbench::fake::cuda
