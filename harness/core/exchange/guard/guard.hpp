#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace dlbench::exchange {

/// The stage of an exchange under a guard. A page counts for the stage of its first access.
enum class Stage : std::uint8_t {
  call,      ///< the consumer's call, without the export
  producer,  ///< the producer's export inside that call
  late,      ///< the call has returned; dlbench waits for the data
  check,     ///< the data is ready; dlbench reads the result
  release,   ///< the result is released
};
inline constexpr std::size_t kStages = 5;

/// Sets a stage, for example that of the producer's own code, until the end of its scope.
class StageSpan {
 public:
  explicit StageSpan(Stage stage);
  StageSpan(const StageSpan&) = delete;
  StageSpan& operator=(const StageSpan&) = delete;
  ~StageSpan();

 private:
  Stage before_;
};

/// Numbers of pages by the stage of their first read (or write).
using PageCounts = std::array<std::uint64_t, kStages>;

/// Code that accessed pages. Accesses are sampled: the first ones, then at growing intervals.
struct Accessor {
  std::string library;  ///< file name of the library; the caller's if libc copied
  bool wrote = false;
  bool on_other_thread = false;  ///< not on the thread that started the guard

  auto operator<=>(const Accessor&) const = default;
};

/// The observations of a guard. A read of a page after its first write is not observed.
struct Observations {
  std::uint64_t pages = 0;       ///< whole pages that were watched
  std::uint64_t page_bytes = 0;  ///< size of a page; in large memory several pages count as one
  PageCounts read{};
  PageCounts written{};
  std::uint64_t written_first = 0;  ///< of the written pages, those that were not read before
  std::vector<Accessor> accessors;  ///< without duplicates, in the order of access
  bool complete = true;             ///< false: all pages had to be restored early

  std::uint64_t all_read() const;
  std::uint64_t all_written() const;
};

/// Thrown if memory cannot be watched.
struct GuardError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Removes access to the whole pages inside a span of memory. The first read of a page is counted
/// and makes the page readable; the first write restores its protection. Any number of threads may
/// access pages at the same time. Memory that was mapped read-only stays read-only. Only one guard
/// may exist.
///
/// A read by the kernel, such as write(2) of the memory, causes no fault but fails with EFAULT.
/// Reads by devices and through another mapping of the memory are not observed.
class Guard {
 public:
  static constexpr std::size_t kMostPages = 4096;

  /// The number of faults is limited, because a fault costs microseconds: in larger memory several
  /// pages are restored at once and count as one. Throws GuardError if the memory has no whole page
  /// or is not readable, or if another guard is active.
  Guard(std::uintptr_t address, std::uint64_t bytes, std::size_t most_pages = kMostPages);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard();

  /// Sets the stage for which pages count.
  void enter(Stage stage);
  void returned() { enter(Stage::late); }

  /// Restores all pages and returns the observations. Other threads may read at the same time.
  Observations lift();

  /// The number of whole pages inside the span.
  static std::uint64_t whole_pages(std::uintptr_t address, std::uint64_t bytes);

 private:
  bool is_up_ = false;
};

}  // namespace dlbench::exchange
