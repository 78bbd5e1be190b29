#pragma once

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "roles.hpp"

namespace dlbench::recorder {

inline std::int64_t now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

/// One line of JSON as it grows.
class Line {
 public:
  template <typename T>
  void number(T value) {
    char digits[32];
    const auto end = std::to_chars(digits, digits + sizeof digits, value);
    text_.append(digits, end.ptr);
  }
  void raw(std::string_view text) { text_ += text; }
  void string(std::string_view text) {
    constexpr std::size_t longest = 1000;
    constexpr char hex[] = "0123456789abcdef";
    text_ += '"';
    for (const char letter : text.substr(0, longest)) {
      const auto byte = static_cast<unsigned char>(letter);
      if (letter == '"' || letter == '\\') {
        text_ += '\\';
        text_ += letter;
      } else if (byte < 0x20 || byte > 0x7e) {
        text_ += "\\u00";
        text_ += hex[byte >> 4];
        text_ += hex[byte & 15];
      } else {
        text_ += letter;
      }
    }
    text_ += '"';
  }
  void key(std::string_view name) {
    text_ += text_.empty() ? '{' : ',';
    string(name);
    text_ += ':';
  }
  std::string& finish() {
    text_ += "}\n";
    return text_;
  }

 private:
  std::string text_;
};

/// The file of this process: $DLBENCH_RECORD/PID.jsonl. Its end is mapped into memory, so that a
/// line costs no system call and survives a SIGKILL. The first byte of a line is stored last: the
/// file up to its first zero byte is whole lines at any time.
class File {
 public:
  /// False where nothing more can be written.
  bool append(const std::string& line) {
    if (lost_) return false;
    if (line.size() > window_ - used_ && !next(line.size())) {
      lost_ = true;
      return false;
    }
    char* const to = begin_ + used_;
    std::memcpy(to + 1, line.data() + 1, line.size() - 1);
    std::atomic_ref(*to).store(line[0], std::memory_order_release);
    used_ += line.size();
    return true;
  }

  bool open(const char* folder) {
    std::string stem = folder;
    stem.append("/").append(std::to_string(getpid()));
    for (int n = 1; n < 1000 && file_ < 0; ++n) {
      std::string path = stem;
      if (n > 1) path.append("-").append(std::to_string(n));
      path.append(".jsonl");
      file_ = ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
      if (file_ < 0 && errno != EEXIST) break;
    }
    lost_ = file_ < 0;
    return !lost_;
  }

 private:
  static constexpr std::size_t step = std::size_t{1} << 20;

  bool next(std::size_t bytes) {
    // A line lies in one window, which begins on a page.
    const std::size_t end = at_ + used_;
    const std::size_t page = end & ~std::size_t{4095};
    const std::size_t wanted = step + (bytes & ~std::size_t{4095});
    // Reserved, so that a full disk ends the trace here and not the process by SIGBUS.
    if (posix_fallocate(file_, static_cast<off_t>(page), static_cast<off_t>(wanted)) != 0)
      return false;
    void* const made =
        mmap(nullptr, wanted, PROT_READ | PROT_WRITE, MAP_SHARED, file_, static_cast<off_t>(page));
    if (made == MAP_FAILED) return false;
    if (begin_ != nullptr) munmap(begin_, window_);
    begin_ = static_cast<char*>(made);
    at_ = page;
    used_ = end - page;
    window_ = wanted;
    return true;
  }

  int file_ = -1;
  bool lost_ = false;
  char* begin_ = nullptr;
  std::size_t at_ = 0;
  std::size_t used_ = 0;
  std::size_t window_ = 0;
};

/// Held for some hundred nanoseconds. A mutex would do, but this library has a C library of its
/// own, and the process's threads are not of that one.
class Lock {
 public:
  explicit Lock(std::atomic_flag& flag) : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) syscall(SYS_sched_yield);
  }
  ~Lock() { flag_.clear(std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::atomic_flag& flag_;
};

}  // namespace dlbench::recorder
