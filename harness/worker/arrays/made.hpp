#pragma once

#include <string>

#include "exchange/view.hpp"
#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// Throws Failure `unsupported` unless the array lies where the storages "own" and "view" of a case
/// say: in memory that the library allocated, and in an array that the adapter sliced.
void require_storage(const Ref& spec, const Ref& array, const Library& producer);

/// Is the alignment of the case smaller than what libraries choose?
bool has_alignment(const exchange::View& expected);

/// Throws Failure `unsupported` if the array has another alignment than such a case, or an unknown
/// one.
void require_alignment(PyObject* array, const exchange::View& expected, const Library& producer);

/// Throws Failure `unsupported` if the producer's array has another dtype, shape, layout or
/// protection than the case, or lacks its property `special`. If a consumer took such an array
/// (`was_taken`), also if its layout is unknown.
void require_made(const std::string& special, PyObject* array, const exchange::View& expected,
                  const Library& producer, bool was_taken);

}  // namespace dlbench::worker
