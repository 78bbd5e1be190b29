#include "supervisor/process/channel.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace dlbench::supervisor {
namespace {

constexpr int kDeepest = 64;
// A shorter line cannot nest deeply enough to exhaust the stack.
constexpr std::size_t kHarmless = 1000;

std::string shown(std::string_view line) {
  std::string text;
  for (const char letter : line.substr(0, 60)) {
    text += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return "'" + text + (line.size() > 60 ? "...'" : "'");
}

// Cuts each text at the limit, between two UTF-8 characters.
void shorten_texts(nlohmann::json& value, std::size_t most, int depth = 0) {
  if (depth > kDeepest) throw ProtocolError("a line that nests too deeply");
  if (value.is_structured()) {
    for (nlohmann::json& item : value) shorten_texts(item, most, depth + 1);
  } else if (value.is_string()) {
    std::string& text = value.get_ref<std::string&>();
    if (text.size() <= most) return;
    std::size_t end = most - 3;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
    text.replace(end, std::string::npos, "...");
  }
}

}  // namespace

bool Channel::send(const nlohmann::json& message) {
  using handler = nlohmann::json::error_handler_t;
  const std::string line = message.dump(-1, ' ', false, handler::replace) + "\n";
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count =
        ::send(fd_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return false;
    sent += static_cast<std::size_t>(count);
  }
  return true;
}

bool Channel::fill() {
  std::array<char, std::size_t{16} << 10> block;
  while (true) {
    const ssize_t count = ::recv(fd_, block.data(), block.size(), MSG_DONTWAIT);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno == EAGAIN || errno == EWOULDBLOCK;
    if (count == 0) return false;
    buffer_.append(block.data(), static_cast<std::size_t>(count));
    // Reads one buffer at a time, so that endless output does not delay the check of the deadline.
    return true;
  }
}

std::optional<nlohmann::json> Channel::next() {
  const std::size_t newline = buffer_.find('\n', searched_);
  if (newline == std::string::npos) {
    searched_ = buffer_.size();
    if (buffer_.size() > limits_.line)
      throw ProtocolError("a line that is too long: " + shown(buffer_));
    return std::nullopt;
  }
  const std::string line = buffer_.substr(0, newline);
  buffer_.erase(0, newline + 1);
  searched_ = 0;
  nlohmann::json message = nlohmann::json::parse(line, nullptr, false);
  if (!message.is_object()) throw ProtocolError("no JSON line: " + shown(line));
  if (line.size() > std::min(limits_.text, kHarmless)) shorten_texts(message, limits_.text);
  return message;
}

}  // namespace dlbench::supervisor
