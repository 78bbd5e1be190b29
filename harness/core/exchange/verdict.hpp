#pragma once

#include <span>
#include <string>
#include <vector>

#include "exchange/view.hpp"
#include "model/entry.hpp"

namespace dlbench::exchange {

/// Marks missing elements: one byte for each element, in C order, 0 if the element has a value.
/// Empty if none is missing.
using Missing = std::span<const unsigned char>;

/// Compares two views element by element. Elements of different dtypes are compared by value; a
/// value that is rounded to the precision of the found dtype is equal. `found` may also be the
/// expected bytes without a dtype, or have more or fewer dimensions of one element. Missing
/// elements are not compared. Host memory only. Returns an empty text if the views are equal,
/// otherwise one line with the first difference: "element (0, 3): expected 4, found 0" or "shape
/// (2, 3), not (6,)". Throws UnknownFormatError if a dtype has no numbers and the bytes differ.
std::string difference(const View& expected, const View& found, Missing missing = {});

/// Is an element missing, and does `found` hold NaN for each missing one? `found` must hold the
/// expected values.
bool has_nan_for(Missing missing, const View& expected, const View& found);

/// The properties that the exchange changed without an error: "dtype", "precision" (same kind,
/// fewer bits), "shape", "layout" (other strides along a dimension of more than one element).
std::vector<std::string> changed(const View& expected, const View& found);

/// Do both have the same first element, on the same device? Of arrays without elements only equal
/// addresses prove something: that of a result may be null, or of memory for all empty arrays.
Proof same_address(const View& source, const View& found);

/// Functions that read and write bytes of a view. This class accesses host memory only.
class Access {
 public:
  Access() = default;
  Access(const Access&) = default;
  Access& operator=(const Access&) = default;
  virtual ~Access() = default;

  virtual bool reaches(const Device& where) const;
  /// Reads each byte, in this order, because both views may share memory.
  virtual void load(const Device& where, std::uintptr_t from, void* to, std::size_t bytes) const;
  virtual void store(const Device& where, std::uintptr_t to, const void* from,
                     std::size_t bytes) const;
};

/// Changes the source's first and last element, checks whether `found` changes too, and restores
/// them. Skipped for read-only sources, arrays without elements, and memory that `memory` cannot
/// access.
Proof write_through(const View& source, const View& found, const Access& memory = Access());

/// Changes the first element of a view in host memory, and restores it at the end of the scope.
class Changed {
 public:
  explicit Changed(const View& view);
  Changed(const Changed&) = delete;
  Changed& operator=(const Changed&) = delete;
  ~Changed();

 private:
  void flip() const;

  std::uintptr_t address_;
  std::size_t bytes_;
};

/// The reverse: does the source change when `found` is written? If memory is copied on write, it
/// does not, and afterwards the memory is no longer shared. `found` must be writable.
Proof write_back(const View& source, const View& found);

}  // namespace dlbench::exchange
