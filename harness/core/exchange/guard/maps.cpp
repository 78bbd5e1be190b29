#include "exchange/guard/maps.hpp"

#include <sys/ioctl.h>
#include <sys/mman.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cinttypes>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

namespace dlbench::exchange {
namespace {

// jemalloc's background threads (Apache Arrow starts one) block all signals, but read no array.
constexpr std::string_view kJemallocThread = "jemalloc_bg_thd";

// While the C library starts or ends a thread, it blocks the signals in it, also its own SIGCANCEL,
// which `pthread_sigmask` cannot block.
constexpr int kLibrarysSignal = 32;
constexpr std::chrono::milliseconds kMostWait{200};

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

// The kernel's request and answer for the mapping at an address (Linux 6.11; struct procmap_query
// of linux/fs.h, which older headers lack).
struct Query {
  std::uint64_t size = sizeof(Query);
  std::uint64_t flags = 0x10;  // the mapping of the address, or the next one
  std::uint64_t address = 0;
  std::uint64_t begin = 0, end = 0;
  std::uint64_t protection = 0;
  std::uint64_t page_bytes = 0, offset = 0, inode = 0;
  std::uint32_t device_major = 0, device_minor = 0;
  std::uint32_t name_bytes = 0, build_id_bytes = 0;
  std::uint64_t name = 0, build_id = 0;
};
constexpr unsigned long kQuery = _IOWR('f', 17, Query);
constexpr std::uint64_t kReadable = 1, kWritable = 2, kExecutable = 4;

int protection_of(bool readable, bool writable, bool executable) {
  return (readable ? PROT_READ : 0) | (writable ? PROT_WRITE : 0) | (executable ? PROT_EXEC : 0);
}

/// Nothing if the kernel has no such request.
std::optional<std::vector<Mapping>> query(std::uintptr_t begin, std::uintptr_t end) {
  const File maps(std::fopen("/proc/self/maps", "re"));
  if (!maps) return std::nullopt;
  std::vector<Mapping> found;
  for (Query query{.address = begin}; query.address < end; query.address = query.end) {
    if (::ioctl(::fileno(maps.get()), kQuery, &query) != 0) {
      if (errno == ENOENT) break;  // no mapping is left
      return std::nullopt;
    }
    if (query.begin >= end) break;
    found.push_back(
        {std::max<std::uintptr_t>(query.begin, begin), std::min<std::uintptr_t>(query.end, end),
         protection_of((query.protection & kReadable) != 0, (query.protection & kWritable) != 0,
                       (query.protection & kExecutable) != 0)});
  }
  return found;
}

/// The content of a file; nothing if it is gone.
std::string content(const std::filesystem::path& path) {
  const File file(std::fopen(path.c_str(), "re"));
  std::string text;
  char part[4096];
  while (const std::size_t bytes = file ? std::fread(part, 1, sizeof part, file.get()) : 0) {
    text.append(part, bytes);
  }
  return text;
}

/// The value of a line "NAME:\tVALUE" of /proc/PID/status.
std::string_view value_of(std::string_view status, std::string_view name) {
  for (std::size_t at = 0; at < status.size();) {
    const std::string_view line = status.substr(at, status.find('\n', at) - at);
    if (line.starts_with(name)) return line.substr(std::min(line.size(), name.size() + 2));
    at += line.size() + 1;
  }
  return {};
}

/// Does the thread block the signal? No if it has ended; yes if its mask is unknown.
bool blocks(const std::string& status, int signal) {
  if (status.empty()) return false;
  std::uint64_t blocked = ~std::uint64_t{0};
  const std::string_view mask = value_of(status, "SigBlk");
  std::from_chars(mask.data(), mask.data() + mask.size(), blocked, 16);
  return (blocked >> (signal - 1) & 1U) != 0;
}

}  // namespace

std::vector<Mapping> mappings_of(std::uintptr_t begin, std::uintptr_t end) {
  if (auto found = query(begin, end)) return *std::move(found);
  return mappings_in_text(begin, end);
}

std::vector<Mapping> mappings_in_text(std::uintptr_t begin, std::uintptr_t end) {
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
    found.push_back({std::max(from, begin), std::min(to, end),
                     protection_of(allowed[0] == 'r', allowed[1] == 'w', allowed[2] == 'x')});
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
  const auto until = std::chrono::steady_clock::now() + kMostWait;
  int count = 0;
  std::error_code gone;  // a thread may have ended meanwhile
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", gone)) {
    std::string status = content(task.path() / "status");
    while (blocks(status, kLibrarysSignal) && std::chrono::steady_clock::now() < until) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      status = content(task.path() / "status");
    }
    count += blocks(status, signal) && value_of(status, "Name") != kJemallocThread ? 1 : 0;
  }
  return count;
}

}  // namespace dlbench::exchange
