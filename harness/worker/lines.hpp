#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace dlbench::worker {

/// Reads complete lines from one file descriptor and writes complete lines to another. Blocking;
/// the GIL is released during waits, because threads of libraries may need it.
class Lines {
 public:
  Lines(int in, int out) : in_(in), out_(out) {}

  /// The next line without its newline, or nothing at the end of the file.
  std::optional<std::string> next();

  /// Writes the line and a newline. Throws std::system_error if the reader has closed the file.
  void write(std::string_view line) const;

 private:
  int in_;
  int out_;
  std::string buffered_;
};

}  // namespace dlbench::worker
