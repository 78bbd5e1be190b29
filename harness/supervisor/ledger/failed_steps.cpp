#include "supervisor/ledger/failed_steps.hpp"

#include "model/codes.hpp"
#include "model/places.hpp"

namespace dlbench::supervisor {
namespace {

FailedStep at_smaller_size(const FailedStep& failed_step, std::uint64_t bytes) {
  FailedStep inherited = failed_step;
  inherited.reason = "not tried, because " + std::to_string(bytes) + " bytes timed out";
  return inherited;
}

constexpr std::size_t kMostSlowCases = 2;

FailedStep not_tried(const std::set<std::string>& slow) {
  FailedStep failed_step;
  failed_step.outcome = Outcome::not_run;
  failed_step.code = codes::kOthersTimedOut;
  failed_step.reason =
      "not tried, because the cases " + *slow.begin() + " and " + *slow.rbegin() + " timed out";
  return failed_step;
}

}  // namespace

FailedSteps::Maker FailedSteps::maker(const Exchange& exchange) {
  return {exchange.environment, exchange.producer, exchange.device, exchange.case_name};
}

Exchange FailedSteps::sizeless(const Exchange& exchange) {
  Exchange same = exchange;
  same.bytes = 0;
  return same;
}

Exchange FailedSteps::caseless(const Exchange& exchange) {
  Exchange same = sizeless(exchange);
  same.case_name.clear();
  return same;
}

void FailedSteps::keep_smallest(Slow& slow, std::uint64_t bytes, const FailedStep& failed_step) {
  if (slow.bytes == 0 || bytes < slow.bytes) slow = {bytes, failed_step};
}

void FailedSteps::import_failed(const std::string& environment, const std::string& library,
                                const std::string& role, const FailedStep& failed_step) {
  imports_.try_emplace({environment, library, role}, failed_step);
}

bool FailedSteps::has_failed_import(const std::string& environment, const std::string& library,
                                    const std::string& role) const {
  return imports_.contains({environment, library, role});
}

void FailedSteps::make_failed(const Exchange& exchange, const FailedStep& failed_step) {
  makes_.try_emplace({maker(exchange), exchange.bytes}, failed_step);
  if (failed_step.outcome == Outcome::timed_out) {
    keep_smallest(slow_makes_[maker(exchange)], exchange.bytes, failed_step);
  }
}

void FailedSteps::timed_out(const Exchange& exchange, const FailedStep& failed_step) {
  keep_smallest(slow_[sizeless(exchange)], exchange.bytes, failed_step);
  slow_cases_[caseless(exchange)].insert(exchange.case_name);
}

void FailedSteps::device_lost(const std::string& device, const FailedStep& failed_step) {
  lost_.try_emplace(device, failed_step);
}

std::optional<FailedStep> FailedSteps::of(const Exchange& exchange) const {
  for (const std::string& device : {source_of(exchange), target_of(exchange)}) {
    if (const auto lost = lost_.find(device); lost != lost_.end()) return lost->second;
  }
  for (const auto& [role, library] :
       {std::pair{"producer", &exchange.producer}, std::pair{"consumer", &exchange.consumer}}) {
    const auto found = imports_.find({exchange.environment, *library, role});
    if (found != imports_.end()) return found->second;
  }
  if (const auto made = makes_.find({maker(exchange), exchange.bytes}); made != makes_.end()) {
    return made->second;
  }
  if (const auto made = slow_makes_.find(maker(exchange));
      made != slow_makes_.end() && exchange.bytes > made->second.bytes) {
    return at_smaller_size(made->second.failed_step, made->second.bytes);
  }
  if (const auto slow = slow_.find(sizeless(exchange));
      slow != slow_.end() && exchange.bytes > slow->second.bytes) {
    return at_smaller_size(slow->second.failed_step, slow->second.bytes);
  }
  if (const auto slow = slow_cases_.find(caseless(exchange));
      slow != slow_cases_.end() && slow->second.size() >= kMostSlowCases &&
      !slow->second.contains(exchange.case_name)) {
    return not_tried(slow->second);
  }
  return std::nullopt;
}

}  // namespace dlbench::supervisor
