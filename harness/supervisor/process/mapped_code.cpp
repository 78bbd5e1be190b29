#include "supervisor/process/mapped_code.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

#include "results/file.hpp"

namespace dlbench::supervisor {
namespace {

/// Does the page cache have pages of the file? False where the system does not report it: if the
/// user neither owns the file nor may write it.
bool is_cached(const results::File& file, const std::string& path) {
  struct stat status {};
  if (::fstat(file.get(), &status) != 0 || status.st_size <= 0) return false;
  const uid_t user = ::geteuid();
  if (user != 0 && user != status.st_uid && ::access(path.c_str(), W_OK) != 0) return false;
  const auto bytes = static_cast<std::size_t>(status.st_size);
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  std::vector<unsigned char> pages((bytes + page - 1) / page);
  void* mapped = ::mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file.get(), 0);
  if (mapped == MAP_FAILED) return false;
  const bool is_known = ::mincore(mapped, bytes, pages.data()) == 0;
  ::munmap(mapped, bytes);
  return is_known &&
         std::any_of(pages.begin(), pages.end(), [](unsigned char one) { return one & 1; });
}

/// Returns whether pages of the file stayed.
bool evict_file(const std::string& path) {
  const results::File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return false;
  ::fdatasync(file.get());  // pages of a new file that are not on the disk yet would stay
  ::posix_fadvise(file.get(), 0, 0, POSIX_FADV_DONTNEED);
  return is_cached(file, path);
}

}  // namespace

void MappedCode::add(const std::string& environment, pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  for (std::string line; std::getline(maps, line);) {
    std::istringstream fields(line);
    std::string addresses, protection, offset, device, inode, path;
    fields >> addresses >> protection >> offset >> device >> inode >> std::ws;
    std::getline(fields, path);
    if (protection.find('x') == std::string::npos || !path.starts_with('/')) continue;
    paths_[environment].emplace(device + ' ' + inode, path);
  }
}

bool MappedCode::is_common(const Identity& file) const {
  return std::all_of(paths_.begin(), paths_.end(),
                     [&](const auto& paths) { return paths.second.contains(file); });
}

std::map<std::string, std::string> MappedCode::evict() const {
  std::map<std::string, std::string> stayed;
  for (const auto& [environment, paths] : paths_) {
    for (const auto& [file, path] : paths) {
      if (evict_file(path) && !is_common(file)) stayed.emplace(environment, path);
    }
  }
  return stayed;
}

}  // namespace dlbench::supervisor
