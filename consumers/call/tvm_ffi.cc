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
void* address(const Tensor& tensor) {
  return static_cast<char*>(tensor.data_ptr()) + tensor.byte_offset();
}

template <typename Tensor, typename Positions>
struct Of;
template <typename Tensor, std::size_t... position>
struct Of<Tensor, std::index_sequence<position...>> {
  static void call(dlbench::call::Each<position, Tensor>... tensor) {
    void* const addresses[] = {address(tensor)..., nullptr};
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
