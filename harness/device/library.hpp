#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlbench::device {

/// A vendor's library, never unloaded again: drivers do not survive that.
class Library {
 public:
  /// The first of these names that loads.
  explicit Library(const std::vector<std::string>& names);

  /// The file of `family` that the process has loaded, so that a measured library and dlbench share
  /// streams; else the first of these names that loads. `family` is what such a file's name begins
  /// with. Nothing where the process has loaded two files of the family: a stream or an address of
  /// one is invalid in the other, and libraries that use different ones cannot be measured
  /// together.
  Library(std::string_view family, const std::vector<std::string>& names);

  explicit operator bool() const { return handle_ != nullptr; }
  /// What the loader said; empty when loaded.
  const std::string& said() const { return said_; }
  /// Whether there was a file, so that `said` is about it and not about its absence.
  bool found() const { return found_; }
  /// The file that was loaded.
  std::string path() const;

  /// nullptr where it exports no such name.
  void* symbol(const char* name) const;

 private:
  void open(const std::vector<std::string>& names);

  void* handle_ = nullptr;
  std::string said_;
  bool found_ = false;
};

/// Puts an address into a pointer to a function.
template <typename F>
void set(F*& function, void* address) {
  function = reinterpret_cast<F*>(address);
}

}  // namespace dlbench::device
