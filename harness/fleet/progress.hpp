#pragma once

#include <cstddef>
#include <string>

#include "fleet/ledger.hpp"

namespace dlbench::fleet {

/// Tells the observer how far the run is, now and then.
class Progress {
 public:
  /// `excluded` cells of the plan need no worker: they count as done from the beginning, so that
  /// the observer counts what the document will hold.
  Progress(Observer& observer, const Ledger& ledger, double budget_s, std::size_t excluded);

  /// What is being done from now on.
  void activity(const std::string& what);

  /// Cells that have had their first rounds and wait for more.
  void pending(std::ptrdiff_t change);
  void forget(std::ptrdiff_t count) noexcept;

  /// Tells, unless it told a moment ago.
  void tick();
  void tell();

 private:
  double eta() const;
  std::size_t done() const;

  Observer& observer_;
  const Ledger& ledger_;
  std::size_t excluded_;
  double budget_s_;
  double begin_, told_ = 0;
  std::size_t before_;
  std::size_t pending_ = 0;
  std::string activity_ = "starting";
};

}  // namespace dlbench::fleet
