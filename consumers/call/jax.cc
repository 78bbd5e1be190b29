// A handler of XLA's FFI, of any number of buffers. Its result is one number.
//: -I{jaxlib}/include
#include <array>
#include <string>

#include "call/body.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

ffi::Error run(ffi::RemainingArgs arguments, ffi::Result<ffi::AnyBuffer> out) {
  std::array<void*, DLBENCH_CALL_MOST> addresses;
  if (arguments.size() > addresses.size())
    return ffi::Error::InvalidArgument("more than " + std::to_string(addresses.size()) + " arrays");
  for (std::size_t i = 0; i < arguments.size(); ++i)
    addresses[i] = arguments.get<ffi::AnyBuffer>(i)->untyped_data();
  dlbench_call(arguments.size(), addresses.data());
  *static_cast<std::uint32_t*>(out->untyped_data()) = 0;
  return ffi::Error::Success();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) XLA_FFI_Error* dlbench_jax_call(
    XLA_FFI_CallFrame* frame) {
  static auto* const handler =
      ffi::Ffi::Bind().RemainingArgs().Ret<ffi::AnyBuffer>().To(run).release();
  return handler->Call(frame);
}
