#include "exchange/dtype.hpp"
#include "exchange/layout.hpp"
#include "exchange/read.hpp"

namespace dlbench::exchange {
namespace {

View read_tensor(const DLTensor& tensor, bool readonly, bool padded) {
  require_dimensions(tensor.ndim);
  const auto ndim = static_cast<std::size_t>(tensor.ndim);
  if (ndim > 0 && tensor.shape == nullptr) throw ViewError("shape is a null pointer");

  View view;
  view.dtype = {tensor.dtype.code, tensor.dtype.bits, tensor.dtype.lanes};
  require_dtype(view.dtype, padded);
  view.device = {tensor.device.device_type, tensor.device.device_id};
  view.readonly = readonly;
  if (ndim > 0) view.shape.assign(tensor.shape, tensor.shape + ndim);
  require_shape(view.shape, view.element_bytes());
  if (ndim > 0 && tensor.strides != nullptr) {
    view.strides = byte_strides({tensor.strides, ndim}, view.shape, view.element_bytes());
  } else {
    view.strides = c_strides(view.shape, view.element_bytes());
  }
  if (tensor.data != nullptr) {
    const auto data = reinterpret_cast<std::uintptr_t>(tensor.data);
    if (__builtin_add_overflow(data, tensor.byte_offset, &view.address)) {
      throw ViewError("byte_offset leaves the address space");
    }
  }
  require_reach(view);
  return view;
}

}  // namespace

View read(const DLTensor& tensor) {
  return read_tensor(tensor, false, false);
}

View read(const DLManagedTensor& managed) {
  return read_tensor(managed.dl_tensor, false, false);
}

View read(const DLManagedTensorVersioned& managed) {
  if (managed.version.major != DLPACK_MAJOR_VERSION) {
    throw ViewError("DLPack major version " + std::to_string(managed.version.major) +
                    "; dlbench reads only 1");
  }
  return read_tensor(managed.dl_tensor, (managed.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0,
                     (managed.flags & DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED) != 0);
}

}  // namespace dlbench::exchange
