#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/entry.hpp"
#include "worker/arrays/arrays.hpp"

namespace dlbench::worker {

/// The judgment of one exchange from its source and its result.
struct Judgement {
  Outcome outcome = Outcome::unproven;
  Evidence evidence;
  std::vector<std::string> changed;
  std::string copied_by;  ///< "producer", "consumer" or empty
  bool late_read = false;
  std::optional<GuardCounts> guard;
  Warnings warnings;
  bool crossed_device = false;
  std::string writable;  ///< as in Entry
  /// Source and result have the same number of bytes, in total and for each element.
  bool same_bytes = true;
  bool is_same_type = false;      ///< source and result have the same Python type
  bool has_right_values = false;  ///< they were read and are as expected
};

/// May the memory be written to? An export may not mark memory of read-only pages, and to write
/// there would end this process.
bool is_writable(const exchange::View& view);

/// Compares the consumer's result for the pool's first array with the expected values, and its
/// memory with that of the array. The consumer's data must be ready. Throws Failure `wrong` if
/// values differ or if the consumer wrote into the producer's array. conclude() sets the outcome.
Judgement judge_result(const Pool& pool, const Library& producer, PyObject* result,
                       const Library& consumer);

/// Sets the outcome from the evidence and warns if instruments disagree.
void conclude(Judgement& judgement);

}  // namespace dlbench::worker
