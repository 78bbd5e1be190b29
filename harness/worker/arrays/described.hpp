#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "exchange/view.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// A view, and the owner of its memory.
struct Held {
  exchange::View view;
  std::shared_ptr<void> keeper;
};

/// The memory of an array, read through the first protocol that works: DLPack, buffer,
/// `__array_interface__`, `__array_struct__`, `__cuda_array_interface__`. A buffer of an unknown
/// format has elements without numbers. Throws Failure `unproven` if none works, and `wrong` if a
/// description is impossible.
Held read_array(PyObject* array);

/// The same through each protocol that works.
std::vector<Held> read_through_each(PyObject* array);

/// The view of an array, with the strides that the array has itself along dimensions of one
/// element. Its export may have others there: up to NumPy 2.2 and PyTorch 2.8 it does.
exchange::View with_own_strides(exchange::View view, PyObject* array);

/// Has this array of the expected values only bytes without their dtype, such as a bytearray?
bool has_lost_dtype(PyObject* array, const exchange::View& expected);

/// The description in an `__array_interface__` dict, an `__array_struct__` capsule or an array.
/// Throws Failure or ViewError.
exchange::View view_of_description(PyObject* exported);

/// The result of the array's `__dlpack_device__`, if it has one. Throws Failure if that raises.
std::optional<exchange::Device> stated_device(PyObject* array);

/// May memory be written to, as the exports of an array show? A legacy DLPack struct does not.
enum class Writable { unknown, no, yes };

/// `no` if any export of the array that starts at `address` is read-only; exports of other memory
/// do not count.
Writable writable_of(PyObject* array, std::uintptr_t address);

}  // namespace dlbench::worker
