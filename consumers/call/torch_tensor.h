#pragma once

#include <ATen/DLConvertor.h>
#include <ATen/core/Tensor.h>

#include "call/body.h"

/// The address of an argument, which is described to the record.
inline void* argument(std::size_t position, const at::Tensor& tensor) {
  if (dlbench_call_record.described != nullptr) [[unlikely]] {
    const DLDataType type = at::getDLDataType(tensor);
    dlbench_call_describe(position, static_cast<std::int32_t>(tensor.dim()), tensor.sizes().data(),
                          tensor.strides().data(), tensor.element_size(), type.code, type.bits);
  }
  return tensor.data_ptr();
}
