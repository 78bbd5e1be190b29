#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "model/entry.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// The exchange to prepare, as requested by the supervisor.
struct Order {
  Exchange exchange;
  Ref make_case;  ///< callable without arguments: a fresh Case object
  std::vector<std::string> clocks;
  /// A property of the array that only some libraries support, such as "pinned".
  std::string special;
  double round_ns = 2e6;
};

/// Reads a request that names an exchange. Throws Failure, and nlohmann's exception if its form is
/// wrong.
Order order_of(const nlohmann::json& request);

/// functools.partial(Case, name=..., bytes=...): each call returns the description of a new array.
Ref case_maker(nlohmann::json description, std::uint64_t bytes);
/// The same descriptions with another number of bytes.
Ref with_bytes(const Ref& make_case, std::uint64_t bytes);

}  // namespace dlbench::worker
