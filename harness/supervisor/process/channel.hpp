#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>

namespace dlbench::supervisor {

/// Thrown for input that is not one JSON object on each line.
struct ProtocolError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The limits of a line of the wire and of a text in it, in bytes. A longer text is cut; a longer
/// line throws ProtocolError.
struct Limits {
  std::size_t line = std::size_t{1} << 20;
  std::size_t text = 1000;
};

/// Sends and receives JSON lines over a non-blocking socket, which it does not own.
class Channel {
 public:
  explicit Channel(int fd, Limits limits = {}) : fd_(fd), limits_(limits) {}

  /// Returns false if the other side has closed the socket or does not read.
  bool send(const nlohmann::json& message);

  /// Reads what is available. Returns false at the end of the stream.
  bool fill();

  /// Returns the next complete line, or nothing. Throws ProtocolError.
  std::optional<nlohmann::json> next();

 private:
  int fd_;
  Limits limits_;
  std::string buffer_;
  std::size_t searched_ = 0;
};

}  // namespace dlbench::supervisor
