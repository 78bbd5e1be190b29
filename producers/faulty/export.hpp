#pragma once

#include "../native/exchange_api.hpp"
#include "../native/export.hpp"
#include "array.hpp"
#include "destructors.hpp"

namespace dlbench::faulty {

inline constexpr const char* kWrongName = "dltensor_of_faulty";

/// While in scope, the native code exports other memory than the array's.
class ExportedArray {
 public:
  explicit ExportedArray(Array& array) : array_(array), other_(other_memory(array)) {
    if (other_) std::swap(block_, array_.native.block);
  }
  ExportedArray(const ExportedArray&) = delete;
  ExportedArray& operator=(const ExportedArray&) = delete;
  ~ExportedArray() {
    if (other_) array_.native.block = block_;
  }
  native::Block& own() { return other_ ? *block_ : *array_.native.block; }
  native::Block& exported() { return *array_.native.block; }

 private:
  Array& array_;
  native::Block::Owner other_;
  native::Block* block_ = other_ ? other_.get() : nullptr;
};

inline void before_export(Array& array) {
  switch (kind_of(array)) {
    case Kind::slow_export:
      return array.fault->delay->spin();
    case Kind::host_wait:
      return array.fault->delay->sleep();
    case Kind::values_changed:
      return change_values(*array.native.block);
    default:
      return;
  }
}

/// Another kind of number with the same width.
inline DLDataTypeCode other_code(DLDataType dtype) {
  if (dtype.code == kDLFloat) return kDLInt;
  if (dtype.bits > 8) return kDLFloat;
  return dtype.code == kDLInt ? kDLUInt : kDLInt;
}

template <typename Managed>
Managed*& endless_of(Array& array) {
  if constexpr (std::is_same_v<Managed, DLManagedTensor>) {
    return array.endless_legacy;
  } else {
    return array.endless;
  }
}

/// Adds the faults of the deleter, and numbers that must live as long as the managed tensor.
template <typename Managed>
Managed* wrapped(Array& array, ExportedArray& exported_array, Managed* honest) {
  auto exported = std::make_unique<Exported<Managed>>(honest);
  DLTensor& tensor = exported->managed.dl_tensor;
  const auto rank = static_cast<std::size_t>(tensor.ndim);
  exported->low = exported_array.exported().address() + exported_array.exported().layout().low();
  exported->extent = exported_array.exported().extent();
  exported->delay = array.fault->delay;
  switch (kind_of(array)) {
    case Kind::slow_release:
      exported->deleter_fault = DeleterFault::slow;
      break;
    case Kind::never_free:
      exported->deleter_fault = DeleterFault::never;
      break;
    case Kind::double_free:
      exported->deleter_fault = DeleterFault::once_only;
      break;
    case Kind::copy_back:
      exported->deleter_fault = DeleterFault::write_back;
      exported->source = exported_array.own().export_tensor(0);
      exported->source_low = exported_array.own().address() + exported_array.own().layout().low();
      break;
    case Kind::wrong_strides:
      exported->numbers.assign(tensor.strides, tensor.strides + rank);
      for (std::int64_t& stride : exported->numbers) stride *= 2;
      tensor.strides = exported->numbers.data();
      break;
    case Kind::wrong_shape:
      exported->numbers.assign(tensor.shape, tensor.shape + rank);
      for (std::int64_t& size : exported->numbers) size = std::max<std::int64_t>(size - 1, 0);
      tensor.shape = exported->numbers.data();
      break;
    default:
      break;
  }
  return &exported.release()->managed;
}

/// The export of a faulty array: a correct managed tensor with changed fields, or a wrapper around
/// it.
template <typename Managed>
Managed* spoiled(Array& array, ExportedArray& exported_array, Managed* honest) {
  DLTensor& tensor = honest->dl_tensor;
  constexpr bool versioned = std::is_same_v<Managed, DLManagedTensorVersioned>;
  switch (kind_of(array)) {
    case Kind::wrong_byte_offset:
      tensor.byte_offset += tensor.dtype.bits / 8;
      return honest;
    case Kind::wrong_dtype:
      tensor.dtype.code = static_cast<std::uint8_t>(other_code(tensor.dtype));
      return honest;
    case Kind::wrong_device:
      tensor.device = {kDLCUDA, 0};
      return honest;
    case Kind::stale_version:
      if constexpr (versioned) honest->version = array.fault->version;
      return honest;
    case Kind::lying_is_copied:
      if constexpr (versioned) honest->flags |= DLPACK_FLAG_BITMASK_IS_COPIED;
      return honest;
    case Kind::read_only_missing:
      if constexpr (versioned) honest->flags &= ~DLPACK_FLAG_BITMASK_READ_ONLY;
      return honest;
    case Kind::null_deleter: {
      Managed*& endless = endless_of<Managed>(array);
      if (endless != nullptr) {
        honest->deleter(honest);
      } else {
        endless = wrapped(array, exported_array, honest);
        endless->deleter = nullptr;
      }
      return endless;
    }
    case Kind::slow_release:
    case Kind::never_free:
    case Kind::double_free:
    case Kind::early_free:
    case Kind::copy_back:
    case Kind::wrong_strides:
    case Kind::wrong_shape:
      return wrapped(array, exported_array, honest);
    default:
      return honest;
  }
}

template <typename Managed>
bool spoil_capsule(Array& array, ExportedArray& exported_array, PyObject* capsule,
                   const char* name) {
  auto* honest = static_cast<Managed*>(PyCapsule_GetPointer(capsule, name));
  Managed* exported = spoiled(array, exported_array, honest);
  if (exported != honest && PyCapsule_SetPointer(capsule, exported) != 0) return false;
  switch (kind_of(array)) {
    case Kind::null_deleter:
      return PyCapsule_SetDestructor(capsule, nullptr) == 0;
    case Kind::wrong_name:
      return PyCapsule_SetName(capsule, kWrongName) == 0 &&
             PyCapsule_SetDestructor(capsule, &drop_regardless<Managed>) == 0;
    case Kind::double_free:
      return PyCapsule_SetDestructor(capsule, &drop_regardless<Managed>) == 0;
    case Kind::early_free:
      Exported<Managed>::of(exported)->holders = 2;
      return PyCapsule_SetContext(capsule, Exported<Managed>::of(exported)) == 0 &&
             PyCapsule_SetDestructor(capsule, &drop_memory<Managed>) == 0;
    default:
      return true;
  }
}

/// `Array.__dlpack__`.
inline PyObject* dlpack(PyObject* self, PyObject* const* arguments, Py_ssize_t positional,
                        PyObject* keywords) try {
  Array& array = array_of(self);
  before_export(array);
  ExportedArray exported_array(array);
  dlbench::Ref capsule(native::dlpack(self, arguments, positional, keywords));
  if (!capsule) return nullptr;
  const bool versioned = PyCapsule_GetName(capsule.get()) == native::kVersionedName;
  const bool good = versioned ? spoil_capsule<DLManagedTensorVersioned>(
                                    array, exported_array, capsule.get(), native::kVersionedName)
                              : spoil_capsule<DLManagedTensor>(array, exported_array, capsule.get(),
                                                               native::kLegacyName);
  return good ? capsule.release() : nullptr;
} catch (const std::bad_alloc&) {
  return PyErr_NoMemory();
} catch (const std::system_error& error) {
  PyErr_SetString(PyExc_OSError, error.what());
  return nullptr;
}

/// `Array.__dlpack_device__`.
inline PyObject* dlpack_device(PyObject* self, PyObject* nothing) {
  Array& array = array_of(self);
  if (kind_of(array) == Kind::slow_query) array.fault->delay->spin();
  return native::dlpack_device(self, nothing);
}

inline int managed_from_object(void* object, DLManagedTensorVersioned** out) try {
  if (!native::is_array(object)) return -1;
  Array& array = array_of(static_cast<PyObject*>(object));
  before_export(array);
  ExportedArray exported_array(array);
  if (native::managed_from_object(object, out) != 0) return -1;
  *out = spoiled(array, exported_array, *out);
  // This capsule has no destructor that frees the memory.
  if (kind_of(array) == Kind::early_free) {
    std::memset(exported_array.exported().address() + exported_array.exported().layout().low(),
                0xDD, exported_array.exported().extent());
  }
  return 0;
} catch (const std::exception& error) {
  PyErr_SetString(PyExc_RuntimeError, error.what());
  return -1;
}

inline int object_from_managed(DLManagedTensorVersioned* managed, void** out) {
  if (native::object_from_managed(managed, out) != 0) return -1;
  new (&array_of(static_cast<PyObject*>(*out)).pages) std::shared_ptr<Pages>;
  return 0;
}

/// The native producer's table with a faulty export function. The borrowing function is left out,
/// because it has no fault.
inline DLPackExchangeAPI sabotaged_api() {
  DLPackExchangeAPI table = native::exchange_api;
  table.managed_tensor_from_py_object_no_sync = &managed_from_object;
  table.managed_tensor_to_py_object_no_sync = &object_from_managed;
  table.dltensor_from_py_object_no_sync = nullptr;
  return table;
}

}  // namespace dlbench::faulty
