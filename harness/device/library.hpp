#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlbench::device {

/// A vendor's library. It is never unloaded: drivers do not survive that.
class Library {
 public:
  /// The first of these names that loads.
  explicit Library(const std::vector<std::string>& names);

  /// The file of `family` that the process has loaded, so that a measured library and dlbench share
  /// streams; else the first of these names that loads. `family` is the beginning of such a file's
  /// name. Nothing where the process has loaded two files of the family: a stream or an address of
  /// one is invalid in the other, so libraries that use different ones cannot be measured together.
  Library(std::string_view family, const std::vector<std::string>& names);

  explicit operator bool() const { return handle_ != nullptr; }
  /// The loader's message; empty when loaded.
  const std::string& error() const { return error_; }
  /// Did the file exist, so that `error` is not about its absence?
  bool found() const { return found_; }
  /// The file that was loaded.
  std::string path() const;

  /// nullptr where it exports no such name.
  void* symbol(const char* name) const;

 private:
  void open(const std::vector<std::string>& names);

  void* handle_ = nullptr;
  std::string error_;
  bool found_ = false;
};

/// Stores an address in a pointer to a function.
template <typename F>
void set(F*& function, void* address) {
  function = reinterpret_cast<F*>(address);
}

}  // namespace dlbench::device
