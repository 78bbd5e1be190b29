#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/entry.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// The exchange to prepare, as the fleet requested it.
struct Order {
  Exchange exchange;
  Ref make_case;  ///< callable without arguments: a fresh Case object
  std::vector<std::string> clocks;
  std::string special;  ///< a property of the array that only some libraries support: "pinned"
  double round_ns = 2e6;
};

/// Reads a request that names an exchange. Throws Failure, and nlohmann's error where its form is
/// wrong.
Order order_of(const nlohmann::json& request);

/// functools.partial(Case, name=..., bytes=...): each call of it is a fresh array's description.
Ref case_maker(nlohmann::json description, std::uint64_t bytes);

}  // namespace dlbench::worker
