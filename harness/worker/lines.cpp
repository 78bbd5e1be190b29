#include "worker/lines.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <span>
#include <system_error>

#include "worker/base/py.hpp"

namespace dlbench::worker {
namespace {

ssize_t read_without_gil(int file, std::span<char> room) {
  PyThreadState* state = PyEval_SaveThread();
  ssize_t got = 0;
  do {
    got = ::read(file, room.data(), room.size());
  } while (got < 0 && errno == EINTR);
  PyEval_RestoreThread(state);
  return got;
}

}  // namespace

std::optional<std::string> Lines::next() {
  for (;;) {
    if (const std::size_t end = buffered_.find('\n'); end != std::string::npos) {
      std::string line = buffered_.substr(0, end);
      buffered_.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> chunk;
    const ssize_t got = read_without_gil(in_, chunk);
    if (got <= 0) return {};
    buffered_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

void Lines::write(std::string_view line) const {
  std::string rest = std::string(line) + "\n";
  while (!rest.empty()) {
    const ssize_t written = ::write(out_, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "answering the supervisor");
    }
    rest.erase(0, static_cast<std::size_t>(written));
  }
}

}  // namespace dlbench::worker
