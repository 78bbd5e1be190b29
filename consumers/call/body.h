// The body of every function of the protocol `call`, in libdlbench_call.so: bindings pass it the
// addresses of their arguments, in order, and it records them.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define DLBENCH_CALL_MOST 64  // arrays of one call

#ifdef __cplusplus
extern "C" {
#endif

#define DLBENCH_CALL_DIMENSIONS 8

// An argument as its binding describes it to the body.
struct dlbench_call_tensor {
  int32_t ndim;        // -1: not described
  uint8_t code, bits;  // of DLPack's DLDataType, with one lane; 0 bits: unknown
  int64_t shape[DLBENCH_CALL_DIMENSIONS];
  int64_t strides[DLBENCH_CALL_DIMENSIONS];  // in bytes
};

struct dlbench_call_record {
  uint64_t calls;                 // of the body
  uint64_t sum;                   // of address * (2 * position + 1), over all calls
  size_t arrays;                  // of the last call
  void* last[DLBENCH_CALL_MOST];  // its addresses
  void (*watch)(size_t arrays);   // null, or called by each body, after the rest is recorded
  struct dlbench_call_tensor* described;  // null, or of each argument of the last call
};

__attribute__((visibility("default"))) extern struct dlbench_call_record dlbench_call_record;

// Null, or a record that kernels of a device write, up to `last`; the host reads it too.
__attribute__((visibility("default"))) extern struct dlbench_call_record* dlbench_call_launched;

// Moves what kernels recorded into dlbench_call_record; call it when the kernels have ended.
// Returns their number.
__attribute__((visibility("default"))) uint64_t dlbench_call_gather();

__attribute__((visibility("default"))) void dlbench_call(size_t arrays, void* const* addresses);

// For code without arrays of pointers: each address, then the end.
__attribute__((visibility("default"))) void dlbench_call_argument(size_t position, void* address);
__attribute__((visibility("default"))) void dlbench_call_end(size_t arrays);

// For code whose arguments have a description, in calls in which `described` is not null. Strides
// are in units of so many bytes; without strides the elements have that size, in C order.
__attribute__((visibility("default"))) void dlbench_call_describe(size_t position, int32_t ndim,
                                                                  const int64_t* shape,
                                                                  const int64_t* strides,
                                                                  int64_t unit, uint8_t code,
                                                                  uint8_t bits);

// A C function `void(void*, ...)` of so many pointers, or null for more than DLBENCH_CALL_MOST.
__attribute__((visibility("default"))) void* dlbench_call_function(size_t arrays);

// Begins a record, in which the first `bytes` bytes of each array of a call are copied to `content`
// unless that is null, until `watch` is null again.
__attribute__((visibility("default"))) void dlbench_call_begin(void* content, size_t bytes);

#ifdef __cplusplus
}
#endif

#ifdef DLBENCH_MADE_WITH  // for a library of the wheel: dlbench/libraries/compiled.py reads it
__attribute__((used)) static const char dlbench_made_with[] = DLBENCH_MADE_WITH;
#endif
