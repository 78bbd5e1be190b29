#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "fleet/case_sweep.hpp"
#include "fleet/device_memory.hpp"
#include "fleet/fleet.hpp"
#include "fleet/groups.hpp"
#include "fleet/ledger.hpp"
#include "fleet/progress.hpp"
#include "fleet/worker_pool.hpp"

namespace dlbench::fleet {

/// The wall time that may be used up.
class Budget {
 public:
  explicit Budget(double seconds) : begin_(now_s()), seconds_(seconds) {}

  bool is_set() const { return seconds_ > 0; }
  double used() const { return now_s() - begin_; }
  double left() const { return seconds_ - used(); }
  bool is_over() const { return is_set() && left() <= 0; }

 private:
  double begin_, seconds_;
};

/// Where the workers' time went, as they report it.
struct Spent {
  double library_s = 0;  ///< in libraries' untimed calls
  double timing_s = 0;   ///< in timed blocks: rounds, calibration, floors

  void add(const nlohmann::json& answer) {
    const auto spent = answer.find("spent_s");
    if (spent == answer.end() || !spent->is_object()) return;
    library_s += spent->value("library", 0.0);
    timing_s += spent->value("timing", 0.0);
  }
};

/// Thrown out of a wait once the budget is used up.
struct OutOfBudget {};

/// How long things took so far, from which a budget is divided.
struct Pace {
  double measuring_s = 0;    ///< in preparations, first rounds and records
  std::size_t shares = 0;    ///< cells of workers that had them
  double import_s = 0;       ///< wall time in which nothing was measured
  std::size_t imported = 0;  ///< workers in that time
  std::size_t jobs_left = 0;

  /// Seconds that so many more shares and the imports of the jobs left will take.
  double ahead_s(std::size_t more) const {
    const double each = shares == 0 ? 0 : measuring_s / static_cast<double>(shares);
    const double worker = imported == 0 ? 0 : import_s / static_cast<double>(imported);
    return each * static_cast<double>(more) + worker * static_cast<double>(jobs_left);
  }
};

/// What all parts of one run share.
struct Context {
  const plan::Plan& plan;
  const Options& options;
  results::Journal& journal;
  Ledger& ledger;
  Budget& budget;
  Progress& progress;
  WorkerPool& workers;
  std::mt19937_64 random;
  double round_s = 0;        ///< spent in timed rounds so far
  Spent spent{};             ///< by all workers so far
  Spent spent_at_import{};   ///< of that, when the last import ended
  double last_import_s = 0;  ///< since the start
  Pace pace{};
  std::set<std::string> copies_measured{};  ///< environments, and devices in them, whose
                                            ///< copy floors are known
  DeviceMemory device_memory{};
  Compatibility known{};
  /// Pairs in which each library ended a worker: {environment, library}.
  std::map<std::pair<std::string, std::string>, std::set<std::size_t>> deaths{};

  /// Exchanges that ended a worker of several pairs, or had wrong values in it, and did not fail
  /// in a worker of the pair's own since.
  std::map<Exchange, Trouble> failed_beside_others{};
  /// What the plain array of each exchange came to: cases of a case sweep are compared with it.
  Baselines baselines{};

  /// Lets pairs share workers again whose exchanges fail in workers of their own too: sharing was
  /// not the cause, and what failed is recorded. Their libraries share again with them.
  void end_suspicions();

  /// A worker that has imported nothing. Throws std::system_error where the interpreter cannot be
  /// started.
  std::unique_ptr<Worker> start_worker(const std::string& environment);
};

}  // namespace dlbench::fleet
