#pragma once

#include <string>
#include <vector>

#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// What an array carries beside its values: the dict of its library's `extras(array)`, with an
/// entry for unit, mask, index, labels, grad, nulls or sparsity. An empty Ref where no adapter has
/// that function. Throws Failure.
Ref extras_of(PyObject* array, const Library& library);

/// The keys of such a dict; none for an empty Ref.
std::vector<std::string> words_of(const Ref& extras);

/// The missing elements, from the array's mask or nulls: a byte an element, in C order; empty where
/// no element is missing.
std::vector<unsigned char> missing_of(const Ref& extras);

/// The source's extras after the exchange.
struct Comparison {
  std::vector<std::string> lost;       ///< the result no longer has them
  std::vector<std::string> undecided;  ///< no adapter can read the result's extras
};

/// Where the result, or the object that it holds, has the source's own type, the producer's adapter
/// reads it too. Throws Failure.
Comparison compare_extras(const Ref& extras, PyObject* source, const Library& producer,
                          PyObject* result, const Library& consumer);

}  // namespace dlbench::worker
