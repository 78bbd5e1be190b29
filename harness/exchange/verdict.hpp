#pragma once

#include <span>
#include <string>
#include <vector>

#include "exchange/view.hpp"
#include "model/entry.hpp"

namespace dlbench::exchange {

/// Which elements have no value: one byte an element, in C order, 0 where there is a value. Empty
/// where all have one.
using Missing = std::span<const unsigned char>;

/// Do both views hold the same numbers? `found` may also be the expected bytes without a dtype, or
/// have more or fewer dimensions of one element. Compares element by element through both layouts,
/// also over different dtypes (then by value, a float32 rounding of an int64 counts as equal where
/// the dtype's own precision explains it). Host memory only. Empty where equal, else one line that
/// names the first difference: "element (0, 3): expected 4, found 0" or "shape (2, 3), not (6,)".
/// What stands in the place of a missing element is not compared.
std::string difference(const View& expected, const View& found, Missing missing = {});

/// Is there a missing element, and does `found` hold NaN in the place of each? `found` must hold
/// the expected values.
bool has_nan_for(Missing missing, const View& expected, const View& found);

/// What was dropped or converted in silence: "dtype", "precision" (same kind, fewer bits), "shape",
/// "layout" (strides that differ though the shape has more than one element along them).
std::vector<std::string> changed(const View& expected, const View& found);

/// Same first element, and it lies on the same device.
Proof same_address(const View& source, const View& found);

/// How bytes are read and written where a view lies. This one knows the host's memory alone.
class Access {
 public:
  Access() = default;
  Access(const Access&) = default;
  Access& operator=(const Access&) = default;
  virtual ~Access() = default;

  virtual bool reaches(const Device& where) const;
  /// Each byte is really read, and in this order: the two ends may be one memory.
  virtual void load(const Device& where, std::uintptr_t from, void* to, std::size_t bytes) const;
  virtual void store(const Device& where, std::uintptr_t to, const void* from,
                     std::size_t bytes) const;
};

/// Writes other bytes into the source's first and last element, looks whether `found` sees them,
/// and puts the old bytes back. Skipped for read-only sources, no elements, or what
/// `memory` does not reach.
Proof write_through(const View& source, const View& found, const Access& memory = Access());

/// The other way round: does the source see what is written into `found`? It need not where memory
/// is copied on write, and afterwards, there, it is no longer shared. `found` must be writable.
Proof write_back(const View& source, const View& found);

}  // namespace dlbench::exchange
