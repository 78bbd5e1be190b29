// A handler of XLA's FFI, of any number of buffers. Its result is one number.
//: -I{jaxlib}/include
#include <array>
#include <string>

#include "call/body.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

void* argument(std::size_t position, const ffi::AnyBuffer& buffer) {
  if (dlbench_call_record.described != nullptr) [[unlikely]] {
    const auto shape = buffer.dimensions();
    const bool is_float = buffer.element_type() == ffi::DataType::F32;
    const auto unit = static_cast<std::int64_t>(ffi::ByteWidth(buffer.element_type()));
    dlbench_call_describe(position, static_cast<std::int32_t>(shape.size()), shape.begin(), nullptr,
                          unit, is_float ? 2 : 0, is_float ? 32 : 0);
  }
  return buffer.untyped_data();
}

ffi::Error run(ffi::RemainingArgs arguments, ffi::Result<ffi::AnyBuffer> out) {
  std::array<void*, DLBENCH_CALL_MOST> addresses;
  if (arguments.size() > addresses.size())
    return ffi::Error::InvalidArgument("more than " + std::to_string(addresses.size()) + " arrays");
  for (std::size_t i = 0; i < arguments.size(); ++i)
    addresses[i] = argument(i, *arguments.get<ffi::AnyBuffer>(i));
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
