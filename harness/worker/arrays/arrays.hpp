#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <tuple>
#include <utility>
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
  /// unusable object, and `unsupported` if its array has another alignment than the case.
  std::shared_ptr<const Pool> get(const Exchange& exchange, const Library& producer,
                                  const Ref& make_case);

  /// Throws Failure `unsupported` if the producer's array is not the case. It looks at an array of
  /// its own, once for each producer and case, and after the first import, which must be the first
  /// to export an array. Unless the array `was_taken`, the consumer's refusal says more than that
  /// its layout is unknown. Call `get` before.
  void require_case(const Exchange& exchange, const Library& producer, const Ref& make_case,
                    bool was_taken);

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
  std::set<Made> aligned_;                    ///< of which further arrays were looked at
  std::set<std::pair<Made, bool>> as_asked_;  ///< whose array is the case, by `was_taken`
};

}  // namespace dlbench::worker
