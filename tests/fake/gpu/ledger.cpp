#include "gpu/ledger.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "gpu/vendor.hpp"

namespace dlbench::fake {

namespace {

constexpr Code out_of_memory = 2;
constexpr int exclusive_process = 3;
constexpr int prohibited = 2;

struct Record {
  std::int64_t pid = 0;
  std::array<std::int64_t, most_devices> bytes{};
  std::array<std::int64_t, most_devices> contexts{};
};

using Records = std::vector<Record>;

/// A process that ended has nothing, even if its parent has not asked for its status.
bool is_running(std::int64_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const auto name_end = text.rfind(')');
  return name_end != std::string::npos && text.size() > name_end + 2 && text[name_end + 2] != 'Z';
}

Record& own_record(Records& all) {
  const std::int64_t pid = getpid();
  for (Record& one : all) {
    if (one.pid == pid) return one;
  }
  all.push_back({pid, {}, {}});
  return all.back();
}

Records read_records(int file) {
  Records all(static_cast<std::size_t>(lseek(file, 0, SEEK_END)) / sizeof(Record));
  const std::size_t bytes = all.size() * sizeof(Record);
  if (pread(file, all.data(), bytes, 0) != static_cast<ssize_t>(bytes)) all.clear();
  std::erase_if(all, [](const Record& one) { return !is_running(one.pid); });
  return all;
}

void write_records(int file, const Records& all) {
  const std::size_t bytes = all.size() * sizeof(Record);
  if (pwrite(file, all.data(), bytes, 0) != static_cast<ssize_t>(bytes) ||
      ftruncate(file, static_cast<off_t>(bytes)) != 0) {
    std::abort();
  }
}

/// Of this process alone.
struct Local {
  std::mutex mutex;
  Records records;
};

Local& local() {
  static Local& only = *std::make_unique<Local>().release();
  return only;
}

/// act(all, own), with what it changes kept.
template <typename Act>
auto with_records(Act&& act) {
  const std::lock_guard lock(local().mutex);
  const char* const path = std::getenv("DLBENCH_FAKE_MEMORY_FILE");
  if (path == nullptr || *path == 0) {
    return act(local().records, own_record(local().records));
  }
  const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) std::abort();
  flock(file, LOCK_EX);
  Records all = read_records(file);
  own_record(all);
  const auto result = act(all, own_record(all));
  write_records(file, all);
  close(file);
  return result;
}

std::int64_t mebibytes(const char* variable, int otherwise) {
  return std::int64_t{mode(variable, otherwise)} << 20;
}

std::int64_t total() {
  return mebibytes("DLBENCH_FAKE_MEMORY_MB", 16384);
}

std::int64_t context_bytes() {
  return mebibytes("DLBENCH_FAKE_CONTEXT_MB", 400);
}

std::int64_t taken(const Records& all, std::size_t device) {
  std::int64_t bytes = 0;
  for (const Record& one : all) bytes += one.bytes[device];
  return bytes;
}

Code take(const Records& all, Record& own, std::size_t device, std::int64_t bytes) {
  if (taken(all, device) + bytes > total()) return out_of_memory;
  own.bytes[device] += bytes;
  return 0;
}

}  // namespace

Code allocate_memory(int device, std::size_t bytes) {
  return with_records([=](Records& all, Record& own) {
    return take(all, own, static_cast<std::size_t>(device), static_cast<std::int64_t>(bytes));
  });
}

void release_memory(int device, std::size_t bytes) {
  with_records([=](Records&, Record& own) {
    own.bytes[static_cast<std::size_t>(device)] -= static_cast<std::int64_t>(bytes);
    return 0;
  });
}

Code open_context(int device) {
  const auto at = static_cast<std::size_t>(device);
  return with_records([=](Records& all, Record& own) {
    if (compute_mode() == prohibited) return vendor.busy;
    for (const Record& other : all) {
      const bool busy = &other != &own && other.contexts[at] > 0;
      if (busy && compute_mode() == exclusive_process) return vendor.busy;
    }
    const Code code = take(all, own, at, context_bytes());
    if (code == 0) ++own.contexts[at];
    return code;
  });
}

void close_context(int device) {
  const auto at = static_cast<std::size_t>(device);
  with_records([=](Records&, Record& own) {
    own.bytes[at] -= context_bytes();
    --own.contexts[at];
    return 0;
  });
}

std::size_t total_memory() {
  return static_cast<std::size_t>(total());
}

std::size_t free_memory_of(int device) {
  return with_records([=](Records& all, Record&) {
    return static_cast<std::size_t>(total() - taken(all, static_cast<std::size_t>(device)));
  });
}

}  // namespace dlbench::fake
