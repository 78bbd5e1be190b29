#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "model/warning.hpp"
#include "trace/range.hpp"
#include "worker/proxy/replay_source.hpp"

namespace dlbench::worker {

/// Runs a part of an exchange, for example inside a range or while calls are counted.
using Around = std::function<void(trace::Category part, const std::function<void()>& part_itself)>;

/// An exchange whose phases are to be separated.
struct WholeExchange {
  ImportCall& import_call;
  std::span<const Ref> arrays;        ///< the producer's own
  std::span<PyObject* const> inputs;  ///< the objects of the exchange itself: arrays, or proxies
  Shown shown = 0;                    ///< the protocols that a replaying proxy offers
  const Recording& recording;         ///< the consumer's requests
  bool forwarded = false;             ///< `inputs` are proxies
  PyObject* ready = nullptr;          ///< the consumer's wait, or null
  std::uint64_t most_iterations = 1;  ///< calls without a wait
};

/// The times of one round, in ns for one exchange. The cost of the proxy is subtracted from the
/// import.
struct PhaseReading {
  double exchange_ns = 0;        ///< the whole exchange, in the same round
  std::vector<double> calls_ns;  ///< the producer's time for each request of the recording
  double import_ns = 0;
  double release_ns = 0;
  double unexplained_ns = 0;  ///< exchange minus all phases; signed
};

/// Separates the phases of an exchange by replaying it, one exchange at a time.
class Phases {
 public:
  /// Checks that the consumer makes the same requests to a replaying proxy, and finds the phase in
  /// which the deleters run. Throws Failure.
  explicit Phases(const WholeExchange& whole);

  /// Times `iterations` each of the whole exchange, of the replayed exchange without and with time
  /// stamps, and of the floors, after `prelude` untimed ones. `seed` determines the order. Throws
  /// Failure.
  PhaseReading round(std::uint64_t iterations, std::uint64_t prelude, std::uint64_t seed);

  /// Runs `iterations` replays under callgrind after `prelude` uncounted ones; see Part. Throws
  /// Failure.
  void count(std::uint64_t iterations, std::uint64_t prelude);

  /// Replays one exchange, with each request, the import, the wait and the release inside `around`.
  /// Not timed. Throws Failure.
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
  std::size_t next_ = 0;  // index into the arrays
  Warnings warnings_;
};

}  // namespace dlbench::worker
