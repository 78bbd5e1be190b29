// Functions of tvm-ffi: of N TensorView, which borrow, or of N Tensor, which own.
// The symbols of libtvm_ffi.so are those that the Python package has loaded.
//: -I{tvm_ffi}/include
#include <tvm/ffi/container/tensor.h>
#include <tvm/ffi/function.h>

#include <utility>

#include "call/body.h"
#include "call/numbers.h"

namespace {

namespace ffi = tvm::ffi;

template <typename Tensor>
void* argument(std::size_t position, const Tensor& tensor) {
  if (dlbench_call_record.described != nullptr) [[unlikely]] {
    const DLDataType type = tensor.dtype();
    dlbench_call_describe(position, tensor.ndim(), tensor.shape().data(), tensor.strides().data(),
                          type.bits / 8, type.code, type.lanes == 1 ? type.bits : 0);
  }
  return static_cast<char*>(tensor.data_ptr()) + tensor.byte_offset();
}

template <typename Tensor, typename Positions>
struct Of;
template <typename Tensor, std::size_t... position>
struct Of<Tensor, std::index_sequence<position...>> {
  static void call(dlbench::call::Each<position, Tensor>... tensor) {
    void* const addresses[] = {argument(position, tensor)..., nullptr};
    dlbench_call(sizeof...(position), addresses);
  }
};
template <typename Tensor, std::size_t arrays>
constexpr auto function = &Of<Tensor, std::make_index_sequence<arrays>>::call;

}  // namespace

#define DLBENCH_EXPORT(n)                                                 \
  TVM_FFI_DLL_EXPORT_TYPED_FUNC(view_##n, (function<ffi::TensorView, n>)) \
  TVM_FFI_DLL_EXPORT_TYPED_FUNC(owned_##n, (function<ffi::Tensor, n>))
DLBENCH_CALL_NUMBERS(DLBENCH_EXPORT)
