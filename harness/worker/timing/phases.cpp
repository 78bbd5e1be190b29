#include "worker/timing/phases.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <random>

#include "stats/stats.hpp"
#include "worker/base/spent.hpp"
#include "worker/timing/stamps.hpp"

namespace dlbench::worker {
namespace {

using Clock = std::chrono::steady_clock;

struct NoClock {};

}  // namespace

/// The wall time of each block, in ns.
struct Phases::Blocks {
  std::vector<double> whole_ns, plain_ns, stamped_ns, floor_ns;
  std::vector<std::vector<double>> parts_ns;  // requests, import, release
  std::vector<std::uint64_t> ticks;
};

Phases::Phases(const WholeExchange& whole)
    : whole_(whole),
      source_(whole.import_call, whole.arrays.front().get(), whole.shown, whole.recording,
              whole.forwarded) {
  check_path();
  find_deleters();
}

std::size_t Phases::advance() {
  const std::size_t now = next_;
  next_ = now + 1 == whole_.arrays.size() ? 0 : now + 1;
  return now;
}

void Phases::fail() {
  const bool strayed = !source_.replay().is_done();
  Failure failure =
      PyErr_Occurred() != nullptr
          ? fetch_failure()
          : Failure{Outcome::no_protocol, "", "the consumer behaves differently with a proxy"};
  source_.replay().rewind();
  if (strayed && failure.outcome == Outcome::refused) failure.outcome = Outcome::no_protocol;
  throw failure;
}

double Phases::whole(std::uint64_t iterations) {
  const Clock::time_point begin = Clock::now();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    PyObject* result = whole_.import_call(whole_.inputs[advance()]);
    if (result == nullptr) throw fetch_failure();
    Py_DECREF(result);
  }
  return ns_since(begin);
}

// Each stamp ends one part and begins the next, so that the parts leave no gap.
template <typename Stamp>
double Phases::apart(std::uint64_t iterations, std::vector<std::uint64_t>& ticks) {
  constexpr bool kStamped = !std::is_same_v<Stamp, NoClock>;
  Replay& replay = source_.replay();
  const std::size_t requests = replay.size();
  std::uint64_t before = 0;
  std::uint64_t* sums = ticks.data();
  const auto stamp = [&](std::size_t part) {
    if constexpr (kStamped) {
      const std::uint64_t now = Stamp::now();
      sums[part] += now - before;
      before = now;
    }
  };
  const Clock::time_point begin = Clock::now();
  if constexpr (kStamped) before = Stamp::now();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    PyObject* array = whole_.arrays[advance()].get();
    for (std::size_t request = 0; request < requests; ++request) {
      if (!replay.play(request, array)) fail();
      stamp(request);
    }
    PyObject* result = source_.import(array);
    if (result == nullptr || !replay.is_done()) [[unlikely]] {
      Py_XDECREF(result);
      fail();
    }
    stamp(requests);
    Py_DECREF(result);
    stamp(requests + 1);
  }
  return ns_since(begin);
}

void Phases::replay(std::uint64_t iterations) {
  std::vector<std::uint64_t> none;
  apart<NoClock>(iterations, none);
}

double Phases::floor(std::uint64_t iterations) {
  Replay& replay = source_.replay();
  const Clock::time_point begin = Clock::now();
  for (std::uint64_t i = 0; i < iterations; ++i) {
    for (std::size_t request = 0; request < replay.size(); ++request) {
      replay.arm(request);
      if (source_.send_request(request) != 0) PyErr_Clear();
    }
  }
  return ns_since(begin);
}

void Phases::wait_for(PyObject* result) const {
  if (whole_.ready != nullptr) checked(PyObject_CallOneArg(whole_.ready, result));
}

void Phases::drain() {
  if (whole_.ready == nullptr) return;
  wait_for(checked(whole_.import_call(whole_.inputs[advance()])).get());
}

// Uses medians of short blocks, so that a preemption affects only one of them. If a type must be
// patched, blocks with and without the patch are separate, so that each round patches it once.
PhaseReading Phases::round(std::uint64_t iterations, std::uint64_t prelude, std::uint64_t seed) {
  constexpr std::uint64_t kBlocks = 8;
  const std::uint64_t blocks = std::clamp<std::uint64_t>(iterations, 1, kBlocks);
  const std::uint64_t each =
      std::clamp<std::uint64_t>(iterations / blocks, 1, whole_.most_iterations);
  const bool patches = source_.way() == ReplaySource::Way::type;
  std::mt19937_64 random(seed);
  Blocks timed;
  const auto time_whole = [&] {
    warm_up(prelude, [this](std::uint64_t n) { whole(n); });
    const Spent::Span counted(Spent::On::timing);
    for (std::uint64_t i = 0; i < (patches ? (blocks + 1) / 2 : 1); ++i) {
      timed.whole_ns.push_back(whole(each));
      drain();
    }
  };
  const auto time_apart = [&] {
    const PatchedType::Scope patched = source_.scope();
    warm_up(prelude, [this](std::uint64_t n) { replay(n); });
    const Spent::Span counted(Spent::On::timing);
    for (std::uint64_t i = 0; i < (patches ? blocks : 1); ++i) {
      const bool stamped_first = random() % 2 == 0;
      if (stamped_first) time_stamped(each, timed);
      timed.plain_ns.push_back(apart<NoClock>(each, timed.ticks));
      if (!stamped_first) time_stamped(each, timed);
      if (source_.has_floor()) timed.floor_ns.push_back(floor(each));
    }
  };
  if (patches) {
    time_whole();
    time_apart();
    drain();
    time_whole();
  } else {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const bool whole_first = random() % 2 == 0;
      if (whole_first) time_whole();
      time_apart();
      drain();
      if (!whole_first) time_whole();
      prelude = std::min<std::uint64_t>(prelude, 16);
    }
  }
  return reading(timed, static_cast<double>(each));
}

template <typename Calls>
void Phases::warm_up(std::uint64_t calls, Calls run) {
  const Spent::Span counted(Spent::On::library);
  run(std::min(calls, whole_.most_iterations));
}

void Phases::time_stamped(std::uint64_t iterations, Blocks& timed) {
  std::vector<std::uint64_t>& ticks = timed.ticks;
  ticks.assign(source_.replay().size() + 2, 0);
  const double ns = Stamps::has_invariant_counter() ? apart<Stamps::Counter>(iterations, ticks)
                                                    : apart<Stamps::Steady>(iterations, ticks);
  const auto all =
      static_cast<double>(std::accumulate(ticks.begin(), ticks.end(), std::uint64_t{0}));
  timed.parts_ns.resize(ticks.size());
  for (std::size_t part = 0; part < ticks.size(); ++part) {
    timed.parts_ns[part].push_back(all > 0 ? static_cast<double>(ticks[part]) * ns / all : 0);
  }
  timed.stamped_ns.push_back(ns);
}

PhaseReading Phases::reading(const Blocks& timed, double n) const {
  const double plain_ns = stats::median(timed.plain_ns) / n;
  const double stamped_ns = stats::median(timed.stamped_ns) / n;
  const auto stamps = static_cast<double>(timed.parts_ns.size());
  // The cost of the stamps is the time that they add to the exchange. For a long exchange this
  // difference is mostly noise, so it is limited to the cost of stamps alone.
  const double alone_ns = Stamps::alone_ns();
  const double stamp_ns =
      std::clamp((stamped_ns - plain_ns) / stamps, 0.4 * alone_ns, 1.1 * alone_ns);
  std::vector<double> parts;
  double total = 0;
  for (const std::vector<double>& part : timed.parts_ns) {
    parts.push_back(stats::median(part) / n - stamp_ns);
    total += parts.back();
  }
  // Blocks with and without stamps may have run at different speeds, so scale to those without
  // stamps.
  for (double& part : parts) part *= total > 0 ? plain_ns / total : 1;

  PhaseReading reading;
  reading.exchange_ns = stats::median(timed.whole_ns) / n;
  const double proxy_ns = source_.has_floor() ? stats::median(timed.floor_ns) / n : 0;
  reading.release_ns = parts.back();
  parts.pop_back();
  reading.import_ns = parts.back() - proxy_ns;
  parts.pop_back();
  reading.calls_ns = std::move(parts);
  reading.unexplained_ns = reading.exchange_ns - (plain_ns - proxy_ns);
  return reading;
}

}  // namespace dlbench::worker
