#include "results/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <random>
#include <system_error>
#include <utility>

#include "model/error.hpp"

namespace dlbench::results {
namespace {

constexpr std::size_t kBuffered = std::size_t{1} << 20;

[[noreturn]] void disk_failed(const std::filesystem::path& path, int error) {
  throw DiskError(os_text("write", path, error));
}

constexpr std::string_view kDraftPrefix = ".dlbench-";
constexpr std::size_t kDraftDigits = 16;

bool is_draft(std::string_view name) {
  return name.size() == kDraftPrefix.size() + kDraftDigits && name.starts_with(kDraftPrefix) &&
         name.find_first_not_of("0123456789abcdef", kDraftPrefix.size()) == std::string_view::npos;
}

std::filesystem::path folder_of(const std::filesystem::path& path) {
  return path.has_parent_path() ? path.parent_path() : ".";
}

/// Removes drafts without a lock: the process that wrote them has ended.
void remove_left_drafts(const std::filesystem::path& folder) {
  std::error_code error;
  std::filesystem::directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    if (!is_draft(entry->path().filename().string())) continue;
    const File file(::open(entry->path().c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (file && ::flock(file.get(), LOCK_EX | LOCK_NB) == 0) ::unlink(entry->path().c_str());
  }
}

}  // namespace

std::string os_text(std::string_view verb, const std::filesystem::path& path, int error) {
  return "cannot " + std::string(verb) + " " + path.string() + ": " +
         std::generic_category().message(error);
}

int write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0) {
      if (errno == EINTR) continue;
      return errno;
    }
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int create_draft(const std::filesystem::path& target, int flags, Draft& into) {
  const std::filesystem::path folder = folder_of(target);
  remove_left_drafts(folder);
  std::random_device random;
  for (;;) {
    char digits[kDraftDigits + 1];
    std::snprintf(digits, sizeof digits, "%08x%08x", random(), random());
    into.path = folder / (std::string(kDraftPrefix) + digits);
    into.file =
        File(::open(into.path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | flags, 0666));
    if (!into.file) return errno;
    // Another process may have removed it before it was locked.
    while (::flock(into.file.get(), LOCK_EX) != 0 && errno == EINTR) {
    }
    struct stat info {};
    if (::fstat(into.file.get(), &info) != 0 || info.st_nlink > 0) return 0;
  }
}

AtomicFile::AtomicFile(std::filesystem::path path) : path_(std::move(path)) {
  if (const int error = create_draft(path_, 0, draft_)) disk_failed(path_, error);
}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(draft_.path.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBuffered) flush();
}

void AtomicFile::flush() {
  if (const int error = write_all(draft_.file.get(), buffer_)) disk_failed(path_, error);
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  // Some file systems report a full disk only here.
  if (::fsync(draft_.file.get()) != 0) disk_failed(path_, errno);
  if (::rename(draft_.path.c_str(), path_.c_str()) != 0) disk_failed(path_, errno);
  committed_ = true;
  draft_.file.close();

  const File directory(::open(folder_of(path_).c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Not every file system can synchronize a directory; the rename is done.
  if (directory.get() >= 0) ::fsync(directory.get());
}

std::uintmax_t open_file(const std::filesystem::path& path, std::uintmax_t most, File& into) {
  // Opening a FIFO without a writer would block.
  into = File(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (into.get() < 0) throw UsageError(os_text("read", path, errno));
  struct stat info {};
  if (::fstat(into.get(), &info) != 0) throw UsageError(os_text("read", path, errno));
  if (!S_ISREG(info.st_mode))
    throw UsageError("cannot read " + path.string() + ": not a regular file");
  if (static_cast<std::uintmax_t>(info.st_size) > most) {
    throw UsageError("cannot read " + path.string() + ": larger than " + std::to_string(most) +
                     " bytes");
  }
  return static_cast<std::uintmax_t>(info.st_size);
}

std::size_t read_some(const File& file, char* into, std::size_t most,
                      const std::filesystem::path& path) {
  for (;;) {
    const ssize_t got = ::read(file.get(), into, most);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (errno != EINTR) throw UsageError(os_text("read", path, errno));
  }
}

std::string read_whole(const std::filesystem::path& path, std::uintmax_t most) {
  File file;
  std::string bytes(open_file(path, most, file), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const std::size_t got = read_some(file, bytes.data() + done, bytes.size() - done, path);
    if (got == 0) break;
    done += got;
  }
  bytes.resize(done);
  return bytes;
}

}  // namespace dlbench::results
