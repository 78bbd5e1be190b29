// A handler of XLA's FFI, of any number of buffers. Its result is one number.
//: -I{jaxlib}/include
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "call/body.h"
#include "xla/ffi/api/ffi.h"

namespace {

namespace ffi = xla::ffi;

// Of DLPack's DLDataType; none for elements of fewer than 8 bits and for floats of 8.
std::optional<std::uint8_t> code_of(ffi::DataType type) {
  using enum ffi::DataType;
  for (const auto each : {S8, S16, S32, S64})
    if (type == each) return 0;
  for (const auto each : {U8, U16, U32, U64})
    if (type == each) return 1;
  for (const auto each : {F16, F32, F64})
    if (type == each) return 2;
  if (type == BF16) return 4;
  if (type == C64 || type == C128) return 5;
  if (type == PRED) return 6;
  return {};
}

void* argument(std::size_t position, const ffi::AnyBuffer& buffer) {
  if (dlbench_call_record.described != nullptr) [[unlikely]] {
    const auto shape = buffer.dimensions();
    const auto code = code_of(buffer.element_type());
    const auto unit = static_cast<std::uint8_t>(ffi::ByteWidth(buffer.element_type()));
    dlbench_call_describe(position, static_cast<std::int32_t>(shape.size()), shape.begin(), nullptr,
                          unit, code.value_or(0), code ? 8 * unit : 0);
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
