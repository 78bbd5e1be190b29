#include "exchange/maps.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace dlbench::exchange {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

bool blocks(const std::filesystem::path& status, int signal) {
  std::ifstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (line.rfind("SigBlk:", 0) != 0) continue;
    return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1U) != 0;
  }
  return false;
}

}  // namespace

std::vector<Mapping> mappings_of(std::uintptr_t begin, std::uintptr_t end) {
  std::vector<Mapping> found;
  const File maps(std::fopen("/proc/self/maps", "re"));
  if (!maps) return found;
  char line[512];
  bool at_start = true;
  while (std::fgets(line, sizeof line, maps.get()) != nullptr) {
    const std::string_view text(line);
    const bool is_head = std::exchange(at_start, text.ends_with('\n'));
    std::uintptr_t from = 0;
    std::uintptr_t to = 0;
    char allowed[5] = {};
    // A path that is longer than the buffer continues in the next read.
    if (!is_head) continue;
    if (std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &from, &to, allowed) != 3) continue;
    if (from >= end) break;  // the mappings are in ascending order
    if (to <= begin) continue;
    const int protection = (allowed[0] == 'r' ? PROT_READ : 0) |
                           (allowed[1] == 'w' ? PROT_WRITE : 0) |
                           (allowed[2] == 'x' ? PROT_EXEC : 0);
    found.push_back({std::max(from, begin), std::min(to, end), protection});
  }
  return found;
}

bool is_readable(std::uintptr_t address, std::size_t bytes) {
  std::uintptr_t end = 0;
  if (__builtin_add_overflow(address, bytes, &end)) return false;
  std::uintptr_t reached = address;
  for (const Mapping& mapping : mappings_of(address, end)) {
    if (mapping.begin != reached || (mapping.protection & PROT_READ) == 0) return false;
    reached = mapping.end;
  }
  return reached == end;
}

int threads_blocking(int signal) {
  int count = 0;
  std::error_code gone;  // a thread may have ended meanwhile
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    count += blocks(task.path() / "status", signal) ? 1 : 0;
  }
  return count;
}

}  // namespace dlbench::exchange
