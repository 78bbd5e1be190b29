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

/// How long a line of the wire may be, and a text in it; in bytes. A longer text is cut.
struct Limits {
  std::size_t line = std::size_t{1} << 20;
  std::size_t text = 1000;
};

/// JSON lines over a non-blocking socket, which it does not own.
class Channel {
 public:
  explicit Channel(int fd, Limits limits = {}) : fd_(fd), limits_(limits) {}

  /// False where the other side is gone or does not read (its buffer holds many requests).
  bool send(const nlohmann::json& message);

  /// Takes what is there to read. False at the end of the stream.
  bool fill();

  /// The next whole line. Throws Garbage.
  std::optional<nlohmann::json> next();

 private:
  int fd_;
  Limits limits_;
  std::string buffer_;
  std::size_t searched_ = 0;
};

}  // namespace dlbench::fleet
