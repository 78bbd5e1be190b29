#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/about.hpp"
#include "device/opening.hpp"
#include "device/vendors/hip_api.hpp"

namespace dlbench::device::hip {

/// The beginning of the runtime's file name.
inline constexpr const char* family = "libamdhip64";

/// The HIP runtime of this process: its functions and state. Never destroyed.
struct Runtime {
  Library library;
  Api api;
  Backend backend;
  Table table;
  int version = 0;

  Runtime();

  FirstCalls load();
};

/// Opens the runtime on the first call. Call it after the libraries that share the runtime are
/// imported.
Runtime& runtime();

/// Sets the folders of Python packages, such as site-packages. The wheels of torch and of ROCm
/// contain a HIP runtime, which is used if the process has loaded none and the loader finds none.
/// No effect after the runtime is opened.
void search_packages(std::vector<std::string> folders);

/// The state for an error of the first call. `node` is the access to the device node (/dev/kfd).
State state_of(Code, Access node) noexcept;

/// "hipErrorNoDevice".
const char* name_of(const Api&, Code);

/// Fills the table with the runtime's functions, and with dlbench's where the runtime has none.
void fill(Table&, const Api&);

About about(const Runtime&);

/// A device's architecture in the compiler's notation, "gfx90a:sramecc+:xnack-", from its
/// hipDeviceProp_t; empty if not found. The member's offset differs between versions of HIP, so it
/// is found by its form. The only other text in the struct is the device's name, in the first 256
/// bytes.
std::string arch_in(std::string_view properties);

/// Launches the delay kernel. The kernel is compiled by hiprtc and loaded on first use on each
/// device.
Code delay(Stream, std::int64_t ns, Address stamps, Address out, unsigned value);

/// The name of the code and the reason, with the compiler's log, if `delay` returned the code
/// because the delay kernel could not be compiled; otherwise null. The text stays valid.
const char* why_no_delay(Code);

}  // namespace dlbench::device::hip
