#pragma once

#include <string>
#include <vector>

#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// The extras of an array: the dict that its library's `extras(array)` returns, with entries for
/// unit, mask, index, labels, grad, nulls or sparsity. An empty Ref if no adapter has that
/// function. Throws Failure.
Ref extras_of(PyObject* array, const Library& library);

/// The keys of such a dict; none for an empty Ref.
std::vector<std::string> words_of(const Ref& extras);

/// The missing elements, from the array's mask or nulls: one byte for each element, in C order;
/// empty if no element is missing.
std::vector<unsigned char> missing_of(const Ref& extras);

/// The extras of the source compared with those of the result.
struct Comparison {
  std::vector<std::string> lost;       ///< extras that the result lacks
  std::vector<std::string> undecided;  ///< extras that no adapter can read from the result
};

/// The consumer's adapter reads the extras of the result. The producer's adapter also reads them if
/// the result, or the object that it contains, has the source's type. Throws Failure.
Comparison compare_extras(const Ref& extras, PyObject* source, const Library& producer,
                          PyObject* result, const Library& consumer);

}  // namespace dlbench::worker
