#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "model/ordering.hpp"
#include "worker/exchange/exchange_call.hpp"
#include "worker/exchange/protocol_search.hpp"
#include "worker/sync/library_queue.hpp"
#include "worker/sync/stream_queue.hpp"

namespace dlbench::worker {

/// The exchange with one stream argument, read on one stream.
struct SyncTrial {
  Ordering row;  ///< not tried yet
  Ref value;     ///< of the argument; empty: it is omitted
  ReadOn read_on = ReadOn::own;
  bool is_current = false;  ///< the consumer works on the stream that is read on
  /// The value may crash a library that has no case for it.
  bool is_hostile = false;
};

/// The request that has a stream argument: a `__dlpack__` call. Null if no request has.
const Request* export_call(const Recording& recording);

/// Streams that a consumer can pass.
struct Passable {
  Ref own, foreign;
  std::int32_t device = 1;  ///< DLPack's device type
};

/// The trials of one exchange: arrays that are still being computed are imported, once for each
/// stream argument. The call and its libraries must outlive it.
class Synchronization {
 public:
  /// Without trials if the producer's adapter has no queue. Throws Failure.
  Synchronization(ExchangeCall& call, ProtocolSearch& search, const Order& order, Announce step);
  Synchronization(const Synchronization&) = delete;
  Synchronization& operator=(const Synchronization&) = delete;

  /// The consumer's own calls first, hostile values last.
  const std::vector<SyncTrial>& trials() const { return trials_; }
  Ordering classify(std::size_t index);

  bool has_late_free() const;
  /// "safe", "late" or "inconclusive"; empty if it cannot be tested.
  std::string late_free();

 private:
  Recording record_on_default(ProtocolSearch& search) const;
  void plan_on_streams(const Passable& passable, const Recording& on_default, PyObject* array);
  bool is_aliased();
  sync::Queue queue_of(const SyncTrial& trial);

  Announce step_;
  SyncLibraries libraries_;
  std::optional<TrialStreams> streams_;
  std::optional<SplitExchange> split_;
  std::optional<StreamQueue> on_streams_;
  std::optional<LibraryQueue> in_library_;
  std::vector<SyncTrial> trials_;
  Recording recording_;
  bool is_whole_ = false;  // the exchange is made in one call, not replayed
};

}  // namespace dlbench::worker
