#include <mutex>

#include "cuda/entries.hpp"

namespace dlbench::fake::cuda {

namespace {

std::mutex& mutex() {
  static std::mutex only;
  return only;
}

Code retain(Context** made, int device) {
  if (device < 0 || device >= device_count()) return invalid_device;
  Context& context = primary(device);
  const std::lock_guard lock(mutex());
  ++context.retained;
  *made = &context;
  return 0;
}

Code release(int device) {
  Context& context = primary(device);
  const std::lock_guard lock(mutex());
  if (context.retained == 0) return invalid_context;
  --context.retained;
  return 0;
}

Code state(int device, unsigned* flags, int* active) {
  const Context& context = primary(device);
  const std::lock_guard lock(mutex());
  *flags = 0;
  *active = context.retained > 0;
  return 0;
}

Code reset(int) {
  return 0;
}

Code set_primary_flags(int, unsigned) {
  return 0;
}

Code set_current(Context* context) {
  if (!contexts().empty()) contexts().pop_back();
  if (context != nullptr) contexts().push_back(context);
  return 0;
}

Code get_current(Context** context) {
  *context = current();
  return 0;
}

Code push(Context* context) {
  contexts().push_back(context);
  return 0;
}

Code pop(Context** context) {
  if (context != nullptr) *context = current();
  contexts().pop_back();
  return 0;
}

Code get_device(int* device) {
  *device = current()->device;
  return 0;
}

Code get_flags(unsigned* flags) {
  *flags = 0;
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
      entry<"cuDevicePrimaryCtxRetain", retain, Needs::Init>(),
      entry<"cuDevicePrimaryCtxRelease", release, Needs::Init>(),
      entry<"cuDevicePrimaryCtxReset", reset, Needs::Init>(),
      entry<"cuDevicePrimaryCtxSetFlags", set_primary_flags, Needs::Init>(),
      entry<"cuDevicePrimaryCtxGetState", state, Needs::Init>(),
      entry<"cuCtxSetCurrent", set_current, Needs::Init>(),
      entry<"cuCtxGetCurrent", get_current, Needs::Init>(),
      entry<"cuCtxPushCurrent", push, Needs::Init>(),
      entry<"cuCtxPopCurrent", pop>(),
      entry<"cuCtxGetDevice", get_device>(),
      entry<"cuCtxGetFlags", get_flags>(),
      entry<"cuCtxGetApiVersion", get_api_version, Needs::Init>(),
      entry<"cuCtxGetId", get_id, Needs::Init>(),
      entry<"cuCtxGetStreamPriorityRange", priorities>(),
      entry<"cuCtxSynchronize", synchronize>(),
  };
}

}  // namespace dlbench::fake::cuda
