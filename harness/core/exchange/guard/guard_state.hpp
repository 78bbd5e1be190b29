#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exchange/guard/guard.hpp"
#include "exchange/guard/maps.hpp"

// The state that the guard shares with its fault handler. It has only fixed buffers and atomics,
// because the handler may run on any thread in any state.
namespace dlbench::exchange::guard {

inline constexpr std::size_t kMostSegments = 8;
inline constexpr std::size_t kMostSamples = 64;
inline constexpr std::size_t kStackWords = 48;

/// One fault as recorded by the handler. The names of libraries are looked up after the guard is
/// lifted.
struct Sample {
  std::uintptr_t pc = 0;
  std::array<std::uintptr_t, kStackWords>
      stack{};  ///< words of the stack, some of them return addresses
  std::size_t words = 0;
  long thread = 0;
  bool wrote = false;
  std::atomic<bool> filled{false};
};

/// The watched memory, in pieces of one or more pages. Written only while no guard is active and no
/// handler runs.
struct Watched {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
  std::size_t piece_bytes = 0;
  std::size_t pieces = 0;
  std::array<Mapping, kMostSegments> segments{};
  std::size_t segment_count = 0;
};

enum class Phase : std::uint8_t {
  down,
  up,
  lifting,   ///< the former protection is being restored
  restored,  ///< the protection is restored, but an earlier handler may still change a page
};

/// The phase and the number of running handlers in one atomic word. The last handler that leaves a
/// restored guard sets the phase to `down`.
class Shift {
 public:
  Phase phase() const { return phase_of(word_.load()); }
  std::size_t handlers() const { return word_.load() / kHandler; }

  void enter() { word_.fetch_add(kHandler); }
  void leave() { change(std::nullopt, kHandler); }
  void set(Phase phase) { change(phase, 0); }

 private:
  static constexpr std::size_t kHandler = 4;
  static Phase phase_of(std::size_t word) { return static_cast<Phase>(word % kHandler); }

  void change(std::optional<Phase> to, std::size_t less) {
    std::size_t before = word_.load();
    std::size_t after;
    do {
      const std::size_t handlers = before - before % kHandler - less;
      Phase phase = to.value_or(phase_of(before));
      if (phase == Phase::restored && handlers == 0) phase = Phase::down;
      after = handlers + static_cast<std::size_t>(phase);
    } while (!word_.compare_exchange_weak(before, after));
  }

  std::atomic<std::size_t> word_{0};
};

struct State {
  Shift shift;
  std::atomic<Stage> stage{Stage::call};
  Watched watched;
  std::array<std::atomic<std::uint8_t>, Guard::kMostPages> touched{};
  std::array<std::atomic<std::uint64_t>, kStages> read{};
  std::array<std::atomic<std::uint64_t>, kStages> written{};
  std::atomic<std::uint64_t> written_first{0};
  std::atomic<std::uint64_t> faults{0};  ///< number of first accesses
  std::atomic<std::uint64_t> repeats{0};
  std::atomic<bool> gave_up{false};
  std::array<Sample, kMostSamples> samples{};
  std::atomic<std::size_t> sample_count{0};
};

State& state();

/// Sets the protection of [begin, end) of the watched memory to the former protection, restricted
/// to `mask`.
bool protect(std::uintptr_t begin, std::uintptr_t end, int mask);

/// Did the guard cause the fault, so that the access can be repeated? Called by the handler.
bool is_guarded(siginfo_t* info, const void* context);

/// Installs the handler for SIGSEGV before all others, for the life of the process. Throws
/// GuardError.
void install_handler();

/// Remembers memory whose guard was lifted, because a thread that faulted there may reach the
/// handler later.
void remember_lifted(std::uintptr_t begin, std::uintptr_t end);

/// The libraries of the sampled code.
std::vector<Accessor> accessors(const Sample* samples, std::size_t count, long own_thread);

}  // namespace dlbench::exchange::guard
