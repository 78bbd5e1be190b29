#pragma once

#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <string>

#include "fleet/device_memory.hpp"
#include "fleet/fleet.hpp"
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

/// Where the workers' time went, as they say themselves.
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
  double round_s = 0;                       ///< spent in timed rounds so far
  Spent spent{};                            ///< by all workers so far
  Spent spent_at_import{};                  ///< of that, when the last import ended
  double last_import_s = 0;                 ///< since the start
  double importing_s = 0;                   ///< wall time in which nothing was measured
  std::set<std::string> copies_measured{};  ///< environments, and devices in them, whose
                                            ///< copy floors are known
  DeviceMemory device_memory{};
};

}  // namespace dlbench::fleet
