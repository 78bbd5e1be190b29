#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <utility>

#include "supervisor/imports/groups.hpp"
#include "supervisor/ledger/ledger.hpp"
#include "supervisor/process/device_memory.hpp"
#include "supervisor/process/worker_pool.hpp"
#include "supervisor/progress.hpp"
#include "supervisor/rounds/case_sweep.hpp"
#include "supervisor/supervisor.hpp"

namespace dlbench::supervisor {

/// The time that a run may measure for. Only spans count, so imports and floors use up none of it.
class Budget {
 public:
  explicit Budget(double seconds) : seconds_(seconds) {}

  /// Counts until its end.
  class Span {
   public:
    explicit Span(Budget& budget) : budget_(budget) { budget_.begin_ = now_s(); }
    ~Span() {
      budget_.used_ = budget_.used();
      budget_.begin_.reset();
    }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    Budget& budget_;
  };

  bool is_set() const { return seconds_ > 0; }
  double used() const { return used_ + (begin_ ? now_s() - *begin_ : 0); }
  double left() const { return seconds_ - used(); }
  bool is_over() const { return is_set() && left() <= 0; }

 private:
  double seconds_, used_ = 0;
  std::optional<double> begin_{};  ///< of the current span
};

/// How workers spent their time, as they report it.
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

/// The durations of the steps so far, which predict the rest of the run.
struct Pace {
  double measuring_s = 0;  ///< in preparing, first rounds and recording
  std::size_t shares = 0;  ///< cells that workers measured in that time

  /// The expected time of `more` shares, in seconds.
  double ahead_s(std::size_t more) const {
    const double each = shares == 0 ? 0 : measuring_s / static_cast<double>(shares);
    return each * static_cast<double>(more);
  }
};

/// The state that all parts of one run share.
struct Context {
  const plan::Plan& plan;
  const Options& options;
  results::Journal& journal;
  Ledger& ledger;
  Budget& budget;
  double begin_s;  ///< of now_s()
  Progress& progress;
  WorkerPool& workers;
  std::mt19937_64 random;
  double round_s = 0;        ///< spent in timed rounds so far
  Spent spent{};             ///< of all workers so far
  Spent spent_at_import{};   ///< `spent` when the last import ended
  double last_import_s = 0;  ///< when the last import ended, since the start
  Pace pace{};
  std::set<std::string> copies_measured{};  ///< environments, and devices in them, whose
                                            ///< copy floors are known
  DeviceMemory device_memory{};
  Compatibility known{};
  /// By {environment, library}: the pairs in which the library ended a worker.
  std::map<std::pair<std::string, std::string>, std::set<std::size_t>> deaths{};

  /// Exchanges that ended a worker of several pairs, or had wrong values in one, but have not
  /// failed in a worker of their pair.
  std::map<Exchange, Failure> failed_beside_others{};
  /// The results of the plain arrays, with which the cases of a case sweep are compared.
  Baselines baselines{};

  /// Lets pairs share workers again if their exchanges also fail in workers of their own, because
  /// sharing was not the cause. Libraries that were isolated because of such pairs also share
  /// again.
  void explain_failures();
};

}  // namespace dlbench::supervisor
