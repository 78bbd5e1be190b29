#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "model/cell.hpp"
#include "worker/arrays/read.hpp"
#include "worker/library/adapter.hpp"

namespace dlbench::worker {

/// A producer's arrays for one case, used in rotation, and the values that each must hold.
struct Pool {
  std::vector<Ref> arrays;  ///< of calls with several arrays: all sets, one after the other
  std::shared_ptr<const Held> expected;  ///< shared by all producers of the case
};

/// Makes one array and waits for its content. `make_case` returns a Case. Throws Failure if the
/// library's `make` raises or returns an unusable object, and Failure `unsupported` if the adapter
/// cannot make such an array.
Ref make_array(const Exchange& exchange, const Library& producer, const Ref& make_case);

/// The same without the wait: the content may still be computed.
Ref make_pending_array(const Exchange& exchange, const Library& producer, const Ref& make_case);

/// The pools of this worker. Exchanges share arrays, because making an array costs a page fault
/// every 4 KiB, which on some machines takes longer than all measurements.
class Arrays {
 public:
  /// Makes the pool on first use. `make_case` is called for each array and returns a Case. Waits
  /// until the arrays are computed. Throws Failure if the library's `make` raises or returns an
  /// unusable object, and `unsupported` if its array is not the case.
  std::shared_ptr<const Pool> get(const Exchange& exchange, const Library& producer,
                                  const Ref& make_case);

  /// Releases unused pools.
  void drop_unused();

 private:
  using Key =
      std::tuple<std::string, std::string, std::string, std::string, std::uint64_t, std::uint64_t>;
  /// Without the consumer: arrays depend on their producer alone.
  using Made = std::tuple<std::string, std::string, std::string, std::uint64_t>;
  using Content = std::pair<std::string, std::uint64_t>;
  std::map<Key, std::shared_ptr<const Pool>> pools_;
  std::map<Content, std::shared_ptr<const Held>> expected_;
  std::set<Made> as_asked_;  ///< whose array was looked at, and is the case
};

}  // namespace dlbench::worker
