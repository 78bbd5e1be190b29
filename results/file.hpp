#pragma once

#include <unistd.h>

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

namespace dlbench::results {

/// Thrown if writing fails: the disk is full, over a limit, or broken. Names the file and the
/// system's error.
struct DiskError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "cannot VERB PATH: No space left on device".
std::string os_text(std::string_view verb, const std::filesystem::path& path, int error);

/// Owns a file descriptor.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(other.release()) {}
  File& operator=(File&& other) noexcept {
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() { close(); }

  int get() const { return descriptor_; }
  explicit operator bool() const { return descriptor_ >= 0; }
  int release() { return std::exchange(descriptor_, -1); }
  void close() {
    if (descriptor_ >= 0) ::close(release());
  }

 private:
  int descriptor_ = -1;
};

/// Writes all bytes, despite interrupts and partial writes. Returns 0 or the errno.
int write_all(int descriptor, std::string_view bytes);

/// A file under a temporary name, which is locked while it is open.
struct Draft {
  std::filesystem::path path;
  File file;
};

/// Creates a draft in the folder of `target`, to be renamed to it before it is closed. Removes
/// drafts that ended processes left there. `flags`: more flags of open(). Returns 0 or the errno.
int create_draft(const std::filesystem::path& target, int flags, Draft& into);

/// Writes a file atomically: under a temporary name, synchronized, then renamed. All functions
/// throw DiskError. Until commit() a former file stays.
class AtomicFile {
 public:
  explicit AtomicFile(std::filesystem::path path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void write(std::string_view bytes);
  void commit();

 private:
  void flush();

  std::filesystem::path path_;
  Draft draft_;
  std::string buffer_;
  bool committed_ = false;
};

/// Opens a file for reading and returns its size. Throws UsageError if it cannot be read or is
/// larger than `most` bytes.
std::uintmax_t open_file(const std::filesystem::path& path, std::uintmax_t most, File& into);

/// Reads at most `most` bytes and returns their number; 0 at the end. Throws UsageError.
std::size_t read_some(const File& file, char* into, std::size_t most,
                      const std::filesystem::path& path);

/// Returns the bytes of a file. Throws UsageError if it cannot be read or is larger than `most`
/// bytes.
std::string read_whole(const std::filesystem::path& path, std::uintmax_t most);

}  // namespace dlbench::results
