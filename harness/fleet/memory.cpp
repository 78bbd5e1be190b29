#include "fleet/memory.hpp"

#include <fstream>
#include <string>

namespace dlbench::fleet {
namespace {

std::uint64_t field(const char* path, const std::string& key) {
  std::ifstream file(path);
  std::string word;
  while (file >> word) {
    if (word == key) {
      std::uint64_t value = 0;
      file >> value;
      return value;
    }
  }
  return 0;
}

std::uint64_t number(const char* path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  file >> value;
  return file ? value : 0;
}

}  // namespace

Memory memory() {
  Memory now{field("/proc/meminfo", "MemTotal:") << 10, field("/proc/meminfo", "MemAvailable:")
                                                            << 10};
  const std::uint64_t limit = number("/sys/fs/cgroup/memory.max");
  if (limit != 0 && limit < now.total) {
    const std::uint64_t cache = field("/sys/fs/cgroup/memory.stat", "inactive_file");
    const std::uint64_t used = number("/sys/fs/cgroup/memory.current");
    const std::uint64_t bound = used > cache ? used - cache : 0;
    now.total = limit;
    now.available = bound < limit ? limit - bound : 0;
  }
  return now;
}

std::uint64_t oom_kills() {
  return field("/proc/vmstat", "oom_kill");
}

}  // namespace dlbench::fleet
