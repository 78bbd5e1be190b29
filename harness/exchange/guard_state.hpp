#pragma once

#include <signal.h>

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "exchange/guard.hpp"
#include "exchange/maps.hpp"

// What the guard shares with its fault handler. Fixed buffers and atomics only: the handler may run
// on any thread, in any state.
namespace dlbench::exchange::guard {

inline constexpr std::size_t kMostSegments = 8;
inline constexpr std::size_t kMostSamples = 64;
inline constexpr std::size_t kStackWords = 48;

/// One fault as recorded by the handler. Names are looked up after the guard is lifted.
struct Sample {
  std::uintptr_t pc = 0;
  std::array<std::uintptr_t, kStackWords> stack{};  ///< return addresses among other words
  std::size_t words = 0;
  long thread = 0;
  bool wrote = false;
  std::atomic<bool> filled{false};
};

/// The memory under guard, in pieces of one or more pages. Written only while no guard is active
/// and no handler runs.
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
  lifting,   ///< the former protection is being put back
  restored,  ///< it was, but an earlier handler may still be changing a page
};

/// The phase and the number of running handlers in one word. The last handler that leaves a
/// restored guard ends it, and cannot mistake a later guard's handlers for none.
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
  std::atomic<std::uint64_t> faults{0};  ///< first touches
  std::atomic<std::uint64_t> repeats{0};
  std::atomic<bool> gave_up{false};
  std::array<Sample, kMostSamples> samples{};
  std::atomic<std::size_t> sample_count{0};
};

State& state();

/// Calls mprotect for [begin, end) of the watched memory: the former protection without what `mask`
/// lacks.
bool protect(std::uintptr_t begin, std::uintptr_t end, int mask);

/// True where the guard caused the fault and the access can be repeated. Called by the handler.
bool is_ours(siginfo_t* info, const void* context);

/// Installs the handler before any other for SIGSEGV; it stays installed for the process's life.
/// Throws GuardError.
void install_handler();

/// A thread that faulted under the guard may reach the handler after the guard was lifted.
void remember_lifted(std::uintptr_t begin, std::uintptr_t end);

/// Names the code behind the samples.
std::vector<Toucher> touchers(const Sample* samples, std::size_t count, long own_thread);

}  // namespace dlbench::exchange::guard
