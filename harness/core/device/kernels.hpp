#pragma once

#include <string_view>

namespace dlbench::device {

/// The delay kernel's name in its sources. Its parameters are ns (64 bits), stamps and out
/// (pointers), value (32 bits); in HIP also the clock's rate in kHz (64 bits).
inline constexpr const char* delay_kernel = "dlbench_delay";

/// kernels/delay.ptx, zero-terminated: compiled by the driver.
extern const std::string_view delay_ptx;
/// kernels/delay.hip, likewise: compiled by hiprtc.
extern const std::string_view delay_hip;

}  // namespace dlbench::device
