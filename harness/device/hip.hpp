#pragma once

#include <string>
#include <string_view>
#include <vector>

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

/// Folders of Python packages, such as site-packages. The wheels of torch and of ROCm bring a HIP
/// runtime; it is taken where the process has loaded none and the loader finds none. Without effect
/// once the runtime was opened.
void search_packages(std::vector<std::string> folders);

/// What an error of the first call means; `node` is what lets a user in (/dev/kfd).
State state_of(Code, Access node) noexcept;

/// "hipErrorNoDevice".
const char* name_of(const Api&, Code);

/// The table: the runtime's own functions, and ours where it has none.
void fill(Table&, const Api&);

About about(const Runtime&);

/// A device's architecture as the compiler takes it, "gfx90a:sramecc+:xnack-", from its
/// hipDeviceProp_t; empty where there is none. The member's place differs between HIP's versions,
/// so it is found by its form. Other text in the struct is the device's name alone, in its first
/// 256 bytes.
std::string arch_in(std::string_view properties);

/// The delay kernel, compiled by hiprtc and loaded at its first use on each device.
Code delay(Stream, std::int64_t ns, Address stamps, Address out, unsigned value);

/// The name of this code and the reason, with the compiler's log, where no delay kernel could be
/// made last time and `delay` returned this code; else nullptr. The text stays valid.
const char* why_no_delay(Code);

}  // namespace dlbench::device::hip
