#pragma once

#include <string>
#include <vector>

#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// What an array carries beside its values, as its library's `extras(array)` says: a dict with an
/// entry for unit, mask, index, labels, grad, nulls or sparsity. An empty Ref where no adapter can
/// tell. Throws Failure.
Ref extras_of(PyObject* array, const Library& library);

/// The words of such a dict; nothing of an empty Ref.
std::vector<std::string> words_of(const Ref& extras);

/// Which elements have no value, by the array's mask or nulls: a byte an element, in C order; empty
/// where all have one.
std::vector<unsigned char> missing_of(const Ref& extras);

/// What became of the source's extras.
struct Comparison {
  std::vector<std::string> lost;       ///< a look at the result shows that it has them no more
  std::vector<std::string> undecided;  ///< nothing tells what the result carries
};

/// Where the result, or what it holds, is of the source's own type, it is also looked at in the
/// producer's words. Throws Failure.
Comparison compare_extras(const Ref& extras, PyObject* source, const Library& producer,
                          PyObject* result, const Library& consumer);

}  // namespace dlbench::worker
