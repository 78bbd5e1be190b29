#pragma once

#include <memory>

#include "exchange/view.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// A view, and the owner of its memory.
struct Held {
  exchange::View view;
  std::shared_ptr<void> keeper;
};

/// The memory of an array: from DLPack, buffer, `__array_interface__`, `__array_struct__` or
/// `__cuda_array_interface__`, the first that works. Throws Failure `unproven` where none does,
/// `wrong` where the description is impossible.
Held read_array(PyObject* array);

/// The description in an `__array_interface__` dict, an `__array_struct__` capsule or an array.
/// Throws Failure or ViewError.
exchange::View view_of_description(PyObject* handed_over);

}  // namespace dlbench::worker
