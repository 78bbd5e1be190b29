#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dlbench::device {

/// A vendor's library, which is never unloaded, because drivers do not support that.
class Library {
 public:
  /// Loads the first of these names that can be loaded.
  explicit Library(const std::vector<std::string>& names);

  /// Uses the file of `family` that the process has loaded, to share streams with the measured
  /// libraries; otherwise loads the first of these names that can be loaded. `family` is the
  /// beginning of the file's name. Fails if the process has loaded two files of the family, because
  /// a stream or an address of one is invalid in the other.
  Library(std::string_view family, const std::vector<std::string>& names);

  explicit operator bool() const { return handle_ != nullptr; }
  /// The loader's message; empty if the library is loaded.
  const std::string& error() const { return error_; }
  /// Does the file exist, so that `error` has another cause?
  bool found() const { return found_; }
  /// The path of the loaded file.
  std::string path() const;

  /// Null if the library exports no such name.
  void* symbol(const char* name) const;

 private:
  void open(const std::vector<std::string>& names);

  void* handle_ = nullptr;
  std::string error_;
  bool found_ = false;
};

/// The files of a family that the process has loaded, including renamed ones of wheels, such as
/// libamdhip64-1a2b3c4d.so.6. The loader lists each file once.
std::vector<std::string> loaded_files(std::string_view family);

/// Stores an address in a pointer to a function.
template <typename F>
void set(F*& function, void* address) {
  function = reinterpret_cast<F*>(address);
}

}  // namespace dlbench::device
