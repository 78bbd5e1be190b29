#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dlbench::worker {

/// Whole lines from one file descriptor, and whole lines into another. Blocking; the GIL is given
/// up while it waits, since a library's threads may need it.
class Lines {
 public:
  Lines(int in, int out) : in_(in), out_(out) {}

  /// The next line without its end, or none at the end of the file.
  std::optional<std::string> next();

  /// Writes the line and its end. Throws std::system_error where nobody reads.
  void write(std::string_view line) const;

 private:
  int in_;
  int out_;
  std::string buffered_;
};

}  // namespace dlbench::worker
