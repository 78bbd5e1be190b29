#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>

namespace dlbench::results {

/// The disk did not take what was written: full, over a limit, broken. Names the file and the
/// system's words for it.
struct DiskError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// "cannot VERB PATH: No space left on device".
std::string os_text(std::string_view verb, const std::filesystem::path& path, int error);

/// A file descriptor that closes itself.
class File {
 public:
  File() = default;
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(other.release()) {}
  File& operator=(File&& other) noexcept;
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File();

  int get() const { return descriptor_; }
  int release();

 private:
  int descriptor_ = -1;
};

/// Writes all of it, over interrupts and short counts. 0, or the errno.
int write_all(int descriptor, std::string_view bytes);

/// Where what will have that name is written until it may have it: beside it, this process's own.
std::filesystem::path draft_of(const std::filesystem::path& path);

/// A file that appears under its name whole or not at all: written beside it, synchronized, then
/// renamed. All functions throw DiskError; until commit() whatever had the name keeps it.
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
  std::filesystem::path draft_;
  std::string buffer_;
  File file_;
  bool committed_ = false;
};

/// Opens a file for reading; its size. Throws UsageError where it cannot be read or is larger than
/// `most` bytes.
std::uintmax_t open_file(const std::filesystem::path& path, std::uintmax_t most, File& into);

/// Up to so many bytes; none at the end. Throws UsageError.
std::size_t read_some(const File& file, char* into, std::size_t most,
                      const std::filesystem::path& path);

/// The file's bytes. Throws UsageError where it cannot be read or is larger than `most` bytes.
std::string read_whole(const std::filesystem::path& path, std::uintmax_t most);

}  // namespace dlbench::results
