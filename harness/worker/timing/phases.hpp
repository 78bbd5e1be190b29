#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/warning.hpp"
#include "worker/proxy/replay_source.hpp"
#include "worker/timing/walk.hpp"

namespace dlbench::worker {

/// One exchange whose phases are to be told apart.
struct WholeExchange {
  ImportCall& import_call;
  std::span<const Ref> arrays;        ///< the producer's own
  std::span<PyObject* const> given;   ///< what the exchange itself hands over: arrays, or proxies
  Shown shown = 0;                    ///< what a replaying proxy shows
  const Recording& recording;         ///< what the consumer asked
  bool forwarded = false;             ///< `given` are proxies
  PyObject* ready = nullptr;          ///< the consumer's wait, or null
  std::uint64_t most_iterations = 1;  ///< in a row without a wait
};

/// One round's numbers, in ns an exchange. What the proxy costs is subtracted from the import.
struct PhaseReading {
  double exchange_ns = 0;        ///< the whole exchange, in the same round
  std::vector<double> calls_ns;  ///< the producer's answer to each request, as on the recording
  double import_ns = 0;
  double release_ns = 0;
  double unexplained_ns = 0;  ///< exchange less all phases; signed
  double floor_ns = 0;        ///< of the proxy; the processor's pace shows in it. 0: none at work
};

/// Tells the phases of an exchange apart by replaying it, one exchange at a time.
class Phases {
 public:
  /// Checks that the consumer takes the same path with a replaying proxy, and where the deleters
  /// run. Throws Failure.
  explicit Phases(const WholeExchange& whole);

  /// The whole exchange, the replayed one, the same with stamps in it, and the floors, so many of
  /// each after `prelude` untimed ones, in an order that `seed` decides. Throws Failure.
  PhaseReading round(std::uint64_t iterations, std::uint64_t prelude, std::uint64_t seed);

  /// So many replays under callgrind's eyes, after `prelude` others; see `Part`. Throws Failure.
  void count(std::uint64_t iterations, std::uint64_t prelude);

  /// The replay of one exchange, each request, the import, the wait and the release inside
  /// `around`. Never timed. Throws Failure.
  void walk(const Around& around);

  const Recording& recording() const { return source_.recording(); }
  std::string way() const { return source_.name(); }
  const Warnings& warnings() const { return warnings_; }

 private:
  struct Blocks;
  struct Counting;

  template <typename Clock>
  double apart(std::uint64_t iterations, std::vector<std::uint64_t>& ticks);
  void replay(std::uint64_t iterations);
  double whole(std::uint64_t iterations);
  double floor(std::uint64_t iterations);
  template <typename Calls>
  void warm_up(std::uint64_t calls, Calls run);
  void time_stamped(std::uint64_t iterations, Blocks& timed);
  PhaseReading reading(const Blocks& timed, double iterations) const;
  void check_path();
  void find_deleters();
  void drain();
  void wait_for(PyObject* result) const;
  std::size_t advance();
  [[noreturn]] void fail();

  WholeExchange whole_;
  ReplaySource source_;
  std::size_t next_ = 0;  // of the arrays
  Warnings warnings_;
};

}  // namespace dlbench::worker
