#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace dlbench::exchange {

/// What is going on while a guard is up; a page counts for the stage in which it was first touched.
enum class Stage : std::uint8_t {
  call,      ///< the consumer's call, but for
  producer,  ///< what the producer does in it: its export
  late,      ///< the call has returned; its data is waited for
  look,      ///< its data is said to be there, and is looked at
  release,   ///< what it returned is let go of
};
inline constexpr std::size_t kStages = 5;

/// Sets the stage for its scope, in which a producer's own code runs.
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

/// Code that touched pages, as far as it was sampled: the first touches, then ever fewer.
struct Toucher {
  std::string library;  ///< file name of the library; the caller's where libc did the copying
  bool wrote = false;
  bool on_other_thread = false;  ///< not on the one that put the guard up

  auto operator<=>(const Toucher&) const = default;
};

/// What a guard saw. A page that is written first is not seen being read afterwards.
struct Sighting {
  std::uint64_t pages = 0;       ///< whole pages that were watched
  std::uint64_t page_bytes = 0;  ///< bytes a page; of large memory several of the system's make one
  PageCounts read{};
  PageCounts written{};
  std::uint64_t written_first = 0;  ///< of the written ones: nobody had read them
  std::vector<Toucher> touchers;    ///< without duplicates, in the order in which they came
  bool complete = true;             ///< false: it had to give all pages back before its time

  std::uint64_t all_read() const;
  std::uint64_t all_written() const;
};

/// Why nothing could be watched.
struct GuardError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Takes the whole pages inside a span of memory away. The first read of a page is counted and
/// gives it back read-only, the first write gives it back for good; whatever thread it is, any
/// number at once. What was mapped read-only stays so. One guard at a time.
///
/// Reads by the kernel (write(2) of the memory) are no faults: they fail with EFAULT. Reads through
/// another mapping of the same memory, and by devices, are not seen.
class Guard {
 public:
  static constexpr std::size_t kMostPages = 4096;

  /// A fault costs microseconds, so there are at most so many: of larger memory, several pages are
  /// given back at once and count as one. Throws GuardError: less than a whole page, memory that
  /// is not readable to begin with, a guard that is up already.
  Guard(std::uintptr_t address, std::uint64_t bytes, std::size_t most_pages = kMostPages);
  Guard(const Guard&) = delete;
  Guard& operator=(const Guard&) = delete;
  ~Guard();

  /// From here on pages count for this stage.
  void enter(Stage stage);
  void returned() { enter(Stage::late); }

  /// Gives all pages back as they were and tells what was seen. Other threads may still be reading;
  /// they are not waited for, and go on undisturbed.
  Sighting lift();

  /// Whole pages inside the span.
  static std::uint64_t whole_pages(std::uintptr_t address, std::uint64_t bytes);

 private:
  bool is_up_ = false;
};

}  // namespace dlbench::exchange
