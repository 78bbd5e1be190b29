#include "supervisor/ledger/failed_steps.hpp"

#include "model/codes.hpp"
#include "model/places.hpp"

namespace dlbench::supervisor {
namespace {

Failure at_smaller_size(const Failure& failure, std::uint64_t bytes) {
  Failure inherited = failure;
  inherited.reason = "not tried, because " + std::to_string(bytes) + " bytes timed out";
  return inherited;
}

constexpr std::size_t kMostSlowCases = 2;

Failure not_tried(const std::set<std::string>& slow) {
  return {Outcome::not_run, "",
          "not tried, because the cases " + *slow.begin() + " and " + *slow.rbegin() + " timed out",
          std::string(codes::kOthersTimedOut)};
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

void FailedSteps::keep_smallest(Slow& slow, std::uint64_t bytes, const Failure& failure) {
  if (slow.bytes == 0 || bytes < slow.bytes) slow = {bytes, failure};
}

void FailedSteps::import_failed(const std::string& environment, const std::string& library,
                                const std::string& role, const Failure& failure) {
  imports_.try_emplace({environment, library, role}, failure);
}

bool FailedSteps::has_failed_import(const std::string& environment, const std::string& library,
                                    const std::string& role) const {
  return imports_.contains({environment, library, role});
}

void FailedSteps::make_failed(const Exchange& exchange, const Failure& failure) {
  makes_.try_emplace({maker(exchange), exchange.bytes}, failure);
  if (failure.outcome == Outcome::timed_out) {
    keep_smallest(slow_makes_[maker(exchange)], exchange.bytes, failure);
  }
}

void FailedSteps::timed_out(const Exchange& exchange, const Failure& failure) {
  keep_smallest(slow_[sizeless(exchange)], exchange.bytes, failure);
  slow_cases_[caseless(exchange)].insert(exchange.case_name);
}

void FailedSteps::device_lost(const std::string& device, const Failure& failure) {
  lost_.try_emplace(device, failure);
}

std::optional<Failure> FailedSteps::of(const Exchange& exchange) const {
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
    return at_smaller_size(made->second.failure, made->second.bytes);
  }
  if (const auto slow = slow_.find(sizeless(exchange));
      slow != slow_.end() && exchange.bytes > slow->second.bytes) {
    return at_smaller_size(slow->second.failure, slow->second.bytes);
  }
  if (const auto slow = slow_cases_.find(caseless(exchange));
      slow != slow_cases_.end() && slow->second.size() >= kMostSlowCases &&
      !slow->second.contains(exchange.case_name)) {
    return not_tried(slow->second);
  }
  return std::nullopt;
}

}  // namespace dlbench::supervisor
