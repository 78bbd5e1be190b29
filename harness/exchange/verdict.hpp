#pragma once

#include <span>
#include <string>
#include <vector>

#include "exchange/view.hpp"
#include "model/entry.hpp"

namespace dlbench::exchange {

/// Marks missing elements: one byte an element, in C order, 0 where there is a value. Empty where
/// none is missing.
using Missing = std::span<const unsigned char>;

/// Compares two views element by element through both layouts, also over different dtypes (then by
/// value; a float32 rounding of an int64 is equal where the dtype's precision explains it). `found`
/// may also be the expected bytes without a dtype, or have more or fewer dimensions of one element.
/// Missing elements are not compared. Host memory only. Returns nothing where they are equal, else
/// one line that names the first difference: "element (0, 3): expected 4, found 0" or "shape (2,
/// 3), not (6,)".
std::string difference(const View& expected, const View& found, Missing missing = {});

/// Is an element missing, and does `found` hold NaN for each missing one? `found` must hold the
/// expected values.
bool has_nan_for(Missing missing, const View& expected, const View& found);

/// What the exchange dropped or converted without an error: "dtype", "precision" (same kind, fewer
/// bits), "shape", "layout" (strides that differ where the shape has more than one element along
/// them).
std::vector<std::string> changed(const View& expected, const View& found);

/// Do both have the same first element, on the same device?
Proof same_address(const View& source, const View& found);

/// Functions that read and write bytes of a view. This type reaches host memory only.
class Access {
 public:
  Access() = default;
  Access(const Access&) = default;
  Access& operator=(const Access&) = default;
  virtual ~Access() = default;

  virtual bool reaches(const Device& where) const;
  /// Really reads each byte, and in this order: both views may be one memory.
  virtual void load(const Device& where, std::uintptr_t from, void* to, std::size_t bytes) const;
  virtual void store(const Device& where, std::uintptr_t to, const void* from,
                     std::size_t bytes) const;
};

/// Writes other bytes into the source's first and last element, checks whether `found` changes, and
/// restores the old bytes. Skipped for read-only sources, arrays without elements, and memory that
/// `memory` does not reach.
Proof write_through(const View& source, const View& found, const Access& memory = Access());

/// The reverse: does the source change when `found` is written? Memory that is copied on write does
/// not, and is no longer shared afterwards. `found` must be writable.
Proof write_back(const View& source, const View& found);

}  // namespace dlbench::exchange
