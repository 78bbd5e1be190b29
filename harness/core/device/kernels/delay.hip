// Compiled at run time by hiprtc, which includes the runtime's header by itself.
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif

// The clock with a constant rate. Older headers declare it only for device code.
static __device__ unsigned long long ticks() {
#ifdef __HIP_DEVICE_COMPILE__
  return static_cast<unsigned long long>(wall_clock64());
#else
  return 0;
#endif
}

static __device__ unsigned long long in_ns(unsigned long long read, unsigned long long khz) {
  return read / khz * 1000000 + read % khz * 1000000 / khz;
}

// Rounds up, so that a wait is never too short. Called once, before the wait, because a division
// takes longer than the clock's step.
static __device__ unsigned long long in_ticks(unsigned long long ns, unsigned long long khz) {
  return ns / 1000000 * khz + (ns % 1000000 * khz + 999999) / 1000000;
}

// One thread: waits `ns`; then *out = value unless out is null; then stamps[0] = begin,
// stamps[1] = end unless stamps is null.
extern "C" __global__ void dlbench_delay(unsigned long long ns, volatile unsigned long long* stamps,
                                         volatile unsigned* out, unsigned value,
                                         unsigned long long khz) {
  const unsigned long long wanted = in_ticks(ns, khz);
  const unsigned long long begin = ticks();
  while (ticks() - begin < wanted) {
  }
  if (out != nullptr) {
    *out = value;
    __threadfence_system();
  }
  if (stamps != nullptr) {
    const unsigned long long end = ticks();  // before the divisions, which take a microsecond
    stamps[0] = in_ns(begin, khz);
    stamps[1] = in_ns(end, khz);
  }
}
