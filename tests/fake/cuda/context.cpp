#include <atomic>

#include "cuda/entries.hpp"

namespace dlbench::fake::cuda {

namespace {

std::atomic<unsigned> primary_flags{0};  // of all devices

bool is_device(int device) {
  return device >= 0 && device < visible_devices();
}

Code retain(Context** made, int device) {
  return is_device(device) ? retain_primary(made, device) : invalid_device;
}

Code release(int device) {
  if (!is_device(device)) return invalid_device;
  return release_primary(device) ? 0 : invalid_context;
}

Code state(int device, unsigned* flags, int* active) {
  if (!is_device(device)) return invalid_device;
  *flags = primary_flags;
  *active = primary(device) != nullptr;
  return 0;
}

/// CUDA 3.2; 11.4 put two parameters before `flags`, and 12.5 one.
Code create(Context** made, unsigned, int device) {
  if (!is_device(device)) return invalid_device;
  const Code code = open(made, device);
  if (code == 0) contexts().push_back(*made);
  return code;
}

Code create_with_affinity(Context** made, void*, int, unsigned flags, int device) {
  return create(made, flags, device);
}

Code create_with_parameters(Context** made, void*, unsigned flags, int device) {
  return create(made, flags, device);
}

Code destroy(Context* context) {
  if (!is_open(context)) return invalid_context;
  if (current() == context) contexts().pop_back();
  close(*context);
  return 0;
}

Code reset(int) {
  return 0;
}

Code set_primary_flags(int, unsigned flags) {
  primary_flags = flags;
  return 0;
}

Code set_current(Context* context) {
  if (context != nullptr && !is_open(context)) return invalid_context;
  if (!contexts().empty()) contexts().pop_back();
  if (context != nullptr) contexts().push_back(context);
  return 0;
}

Code get_current(Context** context) {
  *context = current();
  return 0;
}

Code push(Context* context) {
  if (!is_open(context)) return invalid_context;
  contexts().push_back(context);
  return 0;
}

Code pop(Context** context) {
  if (current() == nullptr) return invalid_context;
  if (context != nullptr) *context = current();
  contexts().pop_back();
  return 0;
}

Code get_device(int* device) {
  *device = current()->device;
  return 0;
}

/// Since CUDA 13 of any context; nullptr: the current one.
Code get_device_of(int* device, Context* context) {
  if (context != nullptr && !is_open(context)) return invalid_context;
  *device = (context != nullptr ? context : current())->device;
  return 0;
}

Code synchronize_context(Context* context) {
  if (context != nullptr && !is_open(context)) return invalid_context;
  if (context == nullptr) return synchronize();
  contexts().push_back(context);
  const Code code = synchronize();
  contexts().pop_back();
  return code;
}

Code get_flags(unsigned* flags) {
  *flags = primary_flags;
  return 0;
}

Code get_api_version(Context*, unsigned* version) {
  *version = 3020;
  return 0;
}

Code get_id(Context*, unsigned long long* id) {
  *id = 1;
  return 0;
}

Code priorities(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return 0;
}

}  // namespace

std::vector<Entry> context_entries() {
  return {
      entry<"cuDevicePrimaryCtxRetain", retain, Needs::Init>(7000),
      entry<"cuDevicePrimaryCtxRelease", release, Needs::Init>(11000),
      entry<"cuDevicePrimaryCtxReset", reset, Needs::Init>(11000),
      entry<"cuDevicePrimaryCtxSetFlags", set_primary_flags, Needs::Init>(11000),
      entry<"cuDevicePrimaryCtxGetState", state, Needs::Init>(7000),
      entry<"cuCtxCreate", create, Needs::Init>(3020),
      entry<"cuCtxCreate", create_with_affinity, Needs::Init>(11040),
      entry<"cuCtxCreate", create_with_parameters, Needs::Init>(12050),
      entry<"cuCtxDestroy", destroy, Needs::Init>(4000),
      entry<"cuCtxSetCurrent", set_current, Needs::Init>(4000),
      entry<"cuCtxGetCurrent", get_current, Needs::Init>(4000),
      entry<"cuCtxPushCurrent", push, Needs::Init>(4000),
      entry<"cuCtxPopCurrent", pop, Needs::Init>(4000),
      entry<"cuCtxGetDevice", get_device>(2000),
      entry<"cuCtxGetDevice", get_device_of>(13000),
      entry<"cuCtxGetFlags", get_flags>(7000),
      entry<"cuCtxGetApiVersion", get_api_version, Needs::Init>(3020),
      entry<"cuCtxGetId", get_id, Needs::Init>(12000),
      entry<"cuCtxGetStreamPriorityRange", priorities>(5050),
      entry<"cuCtxSynchronize", synchronize>(2000),
      entry<"cuCtxSynchronize", synchronize_context>(13000),
  };
}

}  // namespace dlbench::fake::cuda
