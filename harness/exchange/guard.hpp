#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace dlbench::exchange {

/// The stage of an exchange under a guard. A page counts for the stage in which it was first
/// touched.
enum class Stage : std::uint8_t {
  call,      ///< the consumer's call, without the export
  producer,  ///< the producer's export inside that call
  late,      ///< the call returned; dlbench waits for its data
  look,      ///< the data is ready; dlbench reads it
  release,   ///< the result is released
};
inline constexpr std::size_t kStages = 5;

/// Sets the stage while the producer's own code runs, to the end of its scope.
class StageSpan {
 public:
  explicit StageSpan(Stage stage);
  StageSpan(const StageSpan&) = delete;
  StageSpan& operator=(const StageSpan&) = delete;
  ~StageSpan();

 private:
  Stage before_;
};

/// Pages by the stage in which each was first read (or written).
using PageCounts = std::array<std::uint64_t, kStages>;

/// Code that touched pages, as far as it was sampled: the first touches, then fewer and fewer.
struct Toucher {
  std::string library;  ///< file name of the library; the caller's where libc did the copying
  bool wrote = false;
  bool on_other_thread = false;  ///< not on the thread that started the guard

  auto operator<=>(const Toucher&) const = default;
};

/// What a guard observed. A read of a page after the first write is not observed.
struct Sighting {
  std::uint64_t pages = 0;       ///< whole pages that were watched
  std::uint64_t page_bytes = 0;  ///< of a page; large memory counts several pages as one
  PageCounts read{};
  PageCounts written{};
  std::uint64_t written_first = 0;  ///< of the written ones: never read before
  std::vector<Toucher> touchers;    ///< without duplicates, in the order in which they came
  bool complete = true;             ///< false: it had to restore all pages early

  std::uint64_t all_read() const;
  std::uint64_t all_written() const;
};

/// The reason why nothing could be watched.
struct GuardError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Removes access to the whole pages inside a span of memory. The first read of a page is counted
/// and makes it readable; the first write restores it. Any number of threads may touch pages at
/// once. Memory that was mapped read-only stays read-only. One guard at a time.
///
/// Reads by the kernel (write(2) of the memory) cause no fault: they fail with EFAULT. Reads
/// through another mapping of the same memory, and by devices, are not observed.
class Guard {
 public:
  static constexpr std::size_t kMostPages = 4096;

  /// A fault costs microseconds, so their number is limited: for larger memory several pages are
  /// restored at once and count as one. Throws GuardError: less than a whole page, memory that
  /// cannot be read, a guard that is already active.
  Guard(std::uintptr_t address, std::uint64_t bytes, std::size_t most_pages = kMostPages);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard();

  /// Pages count for this stage from now on.
  void enter(Stage stage);
  void returned() { enter(Stage::late); }

  /// Restores all pages and returns what was observed. Other threads may still be reading; they are
  /// not stopped.
  Sighting lift();

  /// Whole pages inside the span.
  static std::uint64_t whole_pages(std::uintptr_t address, std::uint64_t bytes);

 private:
  bool is_up_ = false;
};

}  // namespace dlbench::exchange
