#include "worker/lines.hpp"

#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include "worker/py.hpp"

namespace dlbench::worker {

std::optional<std::string> Lines::next() {
  for (;;) {
    if (const std::size_t end = buffered_.find('\n'); end != std::string::npos) {
      std::string line = buffered_.substr(0, end);
      buffered_.erase(0, end + 1);
      return line;
    }
    std::array<char, 4096> chunk;
    ssize_t got = 0;
    Py_BEGIN_ALLOW_THREADS do {
      got = ::read(in_, chunk.data(), chunk.size());
    }
    while (got < 0 && errno == EINTR)
      ;
    Py_END_ALLOW_THREADS if (got <= 0) return {};
    buffered_.append(chunk.data(), static_cast<std::size_t>(got));
  }
}

void Lines::write(std::string_view line) const {
  std::string rest = std::string(line) + "\n";
  while (!rest.empty()) {
    const ssize_t written = ::write(out_, rest.data(), rest.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      throw std::system_error(errno, std::generic_category(), "answering the fleet");
    }
    rest.erase(0, static_cast<std::size_t>(written));
  }
}

}  // namespace dlbench::worker
