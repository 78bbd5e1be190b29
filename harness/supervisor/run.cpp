#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <exception>

#include "model/codes.hpp"
#include "model/error.hpp"
#include "supervisor/context.hpp"
#include "supervisor/process/signals.hpp"
#include "supervisor/schedule.hpp"

namespace dlbench::supervisor {
namespace {

void check(const Options& options) {
  const auto require = [](bool good, const char* what) {
    if (!good) throw UsageError(what);
  };
  require(options.jobs >= 1, "--jobs: must be above 0");
  require(options.replicas >= 1, "--replicas: must be above 0");
  require(std::isfinite(options.timeout_s) && options.timeout_s > 0, "--timeout: must be above 0");
  require(std::isfinite(options.budget_s) && options.budget_s >= 0,
          "--budget: must not be negative");
  require(std::isfinite(options.precision) && options.precision > 0,
          "--precision: must be above 0");
}

results::Journal open_journal(const plan::Plan& plan, const Options& options,
                              results::JournalContents& before) {
  results::Header header;
  header.fingerprint = plan.fingerprint;
  header.context = nlohmann::json::parse(options.context, nullptr, false);
  if (!header.context.is_object()) throw UsageError("the context is not a JSON object");
  const std::filesystem::path path = options.out / "journal.jsonl";
  return options.resume ? results::Journal::resume(path, header, &before)
                        : results::Journal::create(path, header);
}

void write_excluded(const plan::Plan& plan, const results::JournalContents& before,
                    results::Journal& journal) {
  const std::unordered_set<std::string> done = results::recorded_names(before);
  for (const Entry& entry : plan.excluded) {
    if (!done.contains(name(entry.cell))) journal.append(entry);
  }
}

/// "the budget of 5 s was used up: raise --budget to about 14 s". `share` is the part of the work
/// that was done.
std::string budget_reason(double seconds, double share) {
  std::array<char, 160> text{};
  std::snprintf(text.data(), text.size(), "the budget of %g s was used up", seconds);
  std::string reason = text.data();
  if (share <= 0) return reason + ": raise --budget";
  std::snprintf(text.data(), text.size(), ": raise --budget to about %.0f s",
                std::ceil(seconds / share));
  return reason + text.data();
}

}  // namespace

Summary run(const plan::Plan& plan, const Options& options, Observer& observer) {
  check(options);
  Budget budget(options.budget_s);
  results::JournalContents before;
  results::Journal journal = open_journal(plan, options, before);
  const Signals signals;
  Summary summary;
  Ledger ledger(plan, before, options.replicas, journal, observer);
  const std::size_t measurements = ledger.total() * static_cast<std::size_t>(options.replicas);
  Progress progress(observer, measurements,
                    [&ledger, measurements] { return measurements - ledger.missing(); });
  WorkerPool workers;
  Context context{plan,     options, journal,
                  ledger,   budget,  now_s(),
                  progress, workers, std::mt19937_64(options.seed)};
  for (const ImportOrder& order : options.orders) context.known.recall_order(order);
  const auto fill = [&] {
    summary.orders = context.known.new_orders();
    summary.wall_s = now_s() - context.begin_s;
    summary.budget_used_s = budget.used();
    summary.round_s = context.round_s;
    summary.timing_after_import_s = context.spent.timing_s - context.spent_at_import.timing_s;
    summary.library_after_import_s = context.spent.library_s - context.spent_at_import.library_s;
    summary.last_import_s = context.last_import_s;
    summary.recorded = ledger.recorded();
    summary.measured = ledger.numbers();
  };
  try {
    Schedule schedule(context);
    try {
      write_excluded(plan, before, journal);
      schedule.run();
      const double share = static_cast<double>(measurements - ledger.missing()) /
                           static_cast<double>(std::max<std::size_t>(measurements, 1));
      ledger.close(codes::kBudget, budget_reason(options.budget_s, share));
    } catch (const Stopped& stopped) {
      summary.signal = stopped.signal;
      schedule.abandon();
      ledger.close(codes::kInterrupted, "interrupted");
    }
    fill();
    journal.append(results::EndRecord{summary.wall_s, summary.round_s, summary.signal});
    progress.report();
  } catch (const results::DiskError& error) {
    summary.disk_full = error.what();
  }
  fill();
  return summary;
}

}  // namespace dlbench::supervisor
