#pragma once

#include <string>

#include "exchange/verdict.hpp"
#include "worker/arrays/described.hpp"
#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// The values of an array, compared with the expected ones.
struct ComparedValues {
  Held read;
  std::string difference;  ///< the first one; empty if the values are as expected
  /// Not empty if ways of reading the array disagree and one gives the expected values.
  /// `difference` is then empty.
  std::string disagreement;
};

/// Reads the values of an array as read_values(). If they differ from the expected ones, the
/// array's export may be wrong instead of the array, so all other ways of reading it are tried.
/// Throws Failure, or ViewError if the values cannot be compared.
ComparedValues compare_values(const exchange::View& expected, PyObject* array,
                              const Library& library, exchange::Missing missing = {});

}  // namespace dlbench::worker
