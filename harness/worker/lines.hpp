#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dlbench::worker {

/// Reads whole lines from one file descriptor and writes whole lines to another. Blocking; the GIL
/// is released during waits, since a library's threads may need it.
class Lines {
 public:
  Lines(int in, int out) : in_(in), out_(out) {}

  /// The next line without its end, or none at the end of the file.
  std::optional<std::string> next();

  /// Writes the line and its end. Throws std::system_error where the reader is gone.
  void write(std::string_view line) const;

 private:
  int in_;
  int out_;
  std::string buffered_;
};

}  // namespace dlbench::worker
