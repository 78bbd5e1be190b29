#pragma once

#include <memory>

#include "exchange/view.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// A view, and what keeps its memory alive.
struct Held {
  exchange::View view;
  std::shared_ptr<void> keeper;
};

/// Where an array lies: what DLPack, buffer, `__array_interface__`, `__array_struct__` or
/// `__cuda_array_interface__` say of it, whichever answers first. Throws Failure `unproven` where
/// nothing answers, `wrong` where the answer describes no array.
Held read_array(PyObject* array);

/// What an `__array_interface__` dict, an `__array_struct__` capsule or an array says. Throws
/// Failure or ViewError.
exchange::View view_of_description(PyObject* handed_over);

}  // namespace dlbench::worker
