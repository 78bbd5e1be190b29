#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "device/about.hpp"
#include "device/hip_api.hpp"
#include "device/opening.hpp"

namespace dlbench::device::hip {

/// The HIP runtime of this process, as far as it could be opened.
struct Runtime {
  Library library;
  Api api;
  Backend backend;
  Table table;
  int version = 0;

  Runtime();

  FirstCalls load();
};

/// Opened by the first call. Call it after the libraries whose runtime is to be shared were
/// imported.
Runtime& runtime();

/// Folders of Python packages, such as site-packages. The wheels of torch and of ROCm contain a HIP
/// runtime. It is used where the process has loaded none and the loader finds none. No effect after
/// the runtime was opened.
void search_packages(std::vector<std::string> folders);

/// The state for an error of the first call; `node` is the device node that a user needs access to
/// (/dev/kfd).
State state_of(Code, Access node) noexcept;

/// "hipErrorNoDevice".
const char* name_of(const Api&, Code);

/// The table: the runtime's own functions, and dlbench's where it has none.
void fill(Table&, const Api&);

About about(const Runtime&);

/// A device's architecture in the compiler's notation, "gfx90a:sramecc+:xnack-", from its
/// hipDeviceProp_t; empty where it has none. The member's offset differs between HIP's versions, so
/// it is found by its form. The only other text in the struct is the device's name, in its first
/// 256 bytes.
std::string arch_in(std::string_view properties);

/// The delay kernel, compiled by hiprtc and loaded on first use on each device.
Code delay(Stream, std::int64_t ns, Address stamps, Address out, unsigned value);

/// The name of this code and the reason, with the compiler's log, where the delay kernel could not
/// be made and `delay` returned this code; else nullptr. The text stays valid.
const char* why_no_delay(Code);

}  // namespace dlbench::device::hip
