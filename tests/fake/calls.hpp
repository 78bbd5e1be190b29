#pragma once

#include "device/table.hpp"

/// What all fake libraries share: faults on request, and a count of each call.
///
/// DLBENCH_FAKE_FAIL=cuEventRecord=700@2,cuMemAlloc=2  the second cuEventRecord and all later ones
///                                      give 700, each cuMemAlloc 2; `*` is every function. A
///                                      negative code raises that signal: -11 crashes, -19 hangs.
/// DLBENCH_FAKE_DEVICES=0               how many devices there are (1).
/// DLBENCH_FAKE_MODE=3                  their compute mode, 3 is exclusive-process (0).
/// DLBENCH_FAKE_LOG=1                   names each call on stderr.
namespace dlbench::fake {

using device::Code;

/// Counts a call; gives the error that it has to end with, 0: none.
Code called(const char* name);

int device_count();
int compute_mode();
bool logging();

}  // namespace dlbench::fake

#define DLBENCH_FAKE_EXPORT extern "C" __attribute__((visibility("default")))

/// The same from inside a process: replaces what DLBENCH_FAKE_FAIL said; nullptr: nothing fails.
DLBENCH_FAKE_EXPORT void dlbench_fake_fail(const char* faults);
/// How often a function was called since the last dlbench_fake_fail.
DLBENCH_FAKE_EXPORT unsigned dlbench_fake_calls(const char* name);
