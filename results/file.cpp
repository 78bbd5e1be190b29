#include "results/file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "model/error.hpp"

namespace dlbench::results {
namespace {

constexpr std::size_t kBuffered = std::size_t{1} << 20;

[[noreturn]] void disk_failed(const std::filesystem::path& path, int error) {
  throw DiskError(os_text("write", path, error));
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

std::filesystem::path draft_of(const std::filesystem::path& path) {
  return path.string() + "." + std::to_string(::getpid()) + ".tmp";
}

AtomicFile::AtomicFile(std::filesystem::path path)
    : path_(std::move(path)), draft_(draft_of(path_)) {
  file_ = File(::open(draft_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (file_.get() < 0) disk_failed(draft_, errno);
}

AtomicFile::~AtomicFile() {
  if (!committed_) ::unlink(draft_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  buffer_ += bytes;
  if (buffer_.size() >= kBuffered) flush();
}

void AtomicFile::flush() {
  if (const int error = write_all(file_.get(), buffer_)) disk_failed(path_, error);
  buffer_.clear();
}

void AtomicFile::commit() {
  flush();
  // Some file systems report a full disk only here.
  if (::fsync(file_.get()) != 0) disk_failed(path_, errno);
  if (::close(file_.release()) != 0) disk_failed(path_, errno);
  if (::rename(draft_.c_str(), path_.c_str()) != 0) disk_failed(path_, errno);
  committed_ = true;

  std::filesystem::path folder = path_.parent_path();
  if (folder.empty()) folder = ".";
  const File directory(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
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
