#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace dlbench::fleet {

/// What came over the wire is no JSON object on a line.
struct Garbage : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// JSON lines over a non-blocking socket that somebody else owns.
class Channel {
 public:
  explicit Channel(int fd) : fd_(fd) {}

  /// False where the other side is gone or does not read (its buffer holds many requests).
  bool send(const nlohmann::json& message);

  /// Takes what is there to read. False at the end of the stream.
  bool fill();

  /// The next whole line. Throws Garbage.
  std::optional<nlohmann::json> next();

 private:
  int fd_;
  std::string buffer_;
  std::size_t searched_ = 0;
};

}  // namespace dlbench::fleet
