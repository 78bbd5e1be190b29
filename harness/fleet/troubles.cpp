#include "fleet/troubles.hpp"

#include "model/codes.hpp"

namespace dlbench::fleet {
namespace {

Trouble at_smaller_size(const Trouble& trouble, std::uint64_t bytes) {
  Trouble inherited = trouble;
  inherited.reason = "not tried, because " + std::to_string(bytes) + " bytes timed out";
  return inherited;
}

constexpr std::size_t kMostSlowCases = 2;

Trouble not_tried(const std::set<std::string>& slow) {
  Trouble trouble;
  trouble.outcome = Outcome::not_run;
  trouble.code = codes::kOthersTimedOut;
  trouble.reason =
      "not tried, because the cases " + *slow.begin() + " and " + *slow.rbegin() + " timed out";
  return trouble;
}

}  // namespace

Troubles::Maker Troubles::maker(const Exchange& exchange) {
  return {exchange.environment, exchange.producer, exchange.device, exchange.case_name};
}

Exchange Troubles::sizeless(const Exchange& exchange) {
  Exchange same = exchange;
  same.bytes = 0;
  return same;
}

Exchange Troubles::caseless(const Exchange& exchange) {
  Exchange same = sizeless(exchange);
  same.case_name.clear();
  return same;
}

void Troubles::keep_smallest(Slow& slow, std::uint64_t bytes, const Trouble& trouble) {
  if (slow.bytes == 0 || bytes < slow.bytes) slow = {bytes, trouble};
}

void Troubles::import_failed(const std::string& environment, const std::string& library,
                             const std::string& role, const Trouble& trouble) {
  imports_.try_emplace({environment, library, role}, trouble);
}

bool Troubles::has_failed_import(const std::string& environment, const std::string& library,
                                 const std::string& role) const {
  return imports_.contains({environment, library, role});
}

void Troubles::make_failed(const Exchange& exchange, const Trouble& trouble) {
  makes_.try_emplace({maker(exchange), exchange.bytes}, trouble);
  if (trouble.outcome == Outcome::timed_out) {
    keep_smallest(slow_makes_[maker(exchange)], exchange.bytes, trouble);
  }
}

void Troubles::timed_out(const Exchange& exchange, const Trouble& trouble) {
  keep_smallest(slow_[sizeless(exchange)], exchange.bytes, trouble);
  slow_cases_[caseless(exchange)].insert(exchange.case_name);
}

std::optional<Trouble> Troubles::of(const Exchange& exchange) const {
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
    return at_smaller_size(made->second.trouble, made->second.bytes);
  }
  if (const auto slow = slow_.find(sizeless(exchange));
      slow != slow_.end() && exchange.bytes > slow->second.bytes) {
    return at_smaller_size(slow->second.trouble, slow->second.bytes);
  }
  if (const auto slow = slow_cases_.find(caseless(exchange));
      slow != slow_cases_.end() && slow->second.size() >= kMostSlowCases &&
      !slow->second.contains(exchange.case_name)) {
    return not_tried(slow->second);
  }
  return std::nullopt;
}

}  // namespace dlbench::fleet
