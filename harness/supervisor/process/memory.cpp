#include "supervisor/process/memory.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string>

namespace dlbench::supervisor {
namespace {

namespace fs = std::filesystem;

std::uint64_t field(const fs::path& path, const std::string& key) {
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

std::uint64_t number(const fs::path& path) {
  std::ifstream file(path);
  std::uint64_t value = 0;
  file >> value;
  return file ? value : 0;
}

/// The files of a control-group version with the limit and the use of a group's memory.
struct Words {
  const char* top;
  const char* limit;
  const char* used;
  const char* cache;
};
constexpr Words kFirst{"sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes",
                       "total_inactive_file"};
constexpr Words kSecond{"sys/fs/cgroup", "memory.max", "memory.current", "inactive_file"};

struct ControlGroup {
  Words words;
  fs::path path;  ///< below words.top
};

/// /proc/self/cgroup has lines "0::/path" for version 2 and "4:cpu,memory:/path" for version 1. If
/// both are present, version 1 controls the memory.
std::optional<ControlGroup> own_group(const fs::path& root) {
  std::ifstream file(root / "proc/self/cgroup");
  std::optional<ControlGroup> found;
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    const fs::path path = fs::path(line.substr(second + 1)).relative_path();
    if (controllers.find(",memory,") != std::string::npos) return ControlGroup{kFirst, path};
    if (controllers == ",,") found = ControlGroup{kSecond, path};
  }
  return found;
}

void bound_by(const fs::path& group, const Words& words, Memory& now) {
  const std::uint64_t limit = number(group / words.limit);
  if (limit == 0) return;
  const std::uint64_t cache = field(group / "memory.stat", words.cache);
  const std::uint64_t used = number(group / words.used);
  const std::uint64_t bound = used > cache ? used - cache : 0;
  now.total = std::min(now.total, limit);
  now.available = std::min(now.available, bound < limit ? limit - bound : 0);
}

}  // namespace

Memory memory(const fs::path& root) {
  const fs::path info = root / "proc/meminfo";
  Memory now{field(info, "MemTotal:") << 10, field(info, "MemAvailable:") << 10};
  const std::optional<ControlGroup> own = own_group(root);
  if (!own) return now;
  // Each parent group is a bound too. In a container the mount begins at the container's own group,
  // so the path from outside may not exist.
  fs::path group = root / own->words.top;
  bound_by(group, own->words, now);
  for (const fs::path& part : own->path) {
    group /= part;
    bound_by(group, own->words, now);
  }
  return now;
}

std::uint64_t resident_bytes(pid_t process) {
  return field("/proc/" + std::to_string(process) + "/status", "VmRSS:") << 10;
}

std::uint64_t oom_kills() {
  return field("/proc/vmstat", "oom_kill");
}

}  // namespace dlbench::supervisor
