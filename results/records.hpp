#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/entry.hpp"
#include "results/fields.hpp"

namespace dlbench::results {

/// Used for writing, because it keeps the order of keys.
using OrderedJson = nlohmann::ordered_json;

/// The effects of an import on the whole process: names by kind of effect.
struct Effects : std::map<std::string, std::vector<std::string>> {
  using map::map;
};

/// What one worker reported about itself.
struct WorkerRecord {
  std::string environment = "default";
  std::vector<std::string> imports;  ///< its libraries, in the order of import
  std::string python;
  bool gil = true;
  std::map<std::string, double> floors_ns;
  std::map<std::string, double> copy_floors_gb_per_s;      ///< empty if not requested
  std::map<std::string, std::uint64_t> copy_floors_bytes;  ///< size of the copied block, by device
  std::map<std::string, std::string> context_flags;        ///< by device
  std::optional<double> reference_ns;  ///< median of the reference exchange; none if not measured
  std::optional<double> reference_core_ns;        ///< as WorkerNumbers::core_ns, of its rounds
  std::map<std::string, std::string> libraries;   ///< versions as imported
  std::map<std::string, Effects> import_effects;  ///< by library
  std::map<std::string, double> import_seconds;   ///< by library
  double import_s = 0;
};

/// The end of one session; the journal of a resumed run has several.
struct EndRecord {
  double wall_s = 0;
  double round_s = 0;  ///< part of it in rounds
  int signal = 0;      ///< 0, SIGINT or SIGTERM
};

/// The instruction count of a recorded cell, or why there is none.
struct CountRecord {
  std::string cell;                    ///< the cell's name
  std::optional<double> instructions;  ///< of one exchange
  std::string failure;
};

/// The CUDA driver calls of a recorded cell, or why they were not counted.
struct ApiRecord {
  std::string cell;
  std::optional<ApiCalls> calls;
  std::string failure;
};

/// The synchronization of a recorded cell, as `sync` and `late_free` of its entry, or why it was
/// not classified.
struct SyncRecord {
  std::string cell;
  std::vector<Ordering> sync;
  std::string late_free;
  std::string race;  ///< why the cell is a race and loses its number; empty if it is not
  std::string failure;
};

/// Exchanges of a recorded cell during a capture, as `capture` of its entry.
struct CaptureRecord {
  std::string cell;
  std::vector<Capture> capture;
};

/// Adds the JSON schema of the items of `benchmarks` (`measured`) and `not_measured`, and of what
/// they hold, to the definitions of a schema.
void describe_entries(OrderedJson& definitions);

/// A recorded cell as an item of `benchmarks` (measured) or `not_measured`. Times are in ns. Empty
/// values (no exception, no late read) are left out.
OrderedJson entry_to_json(const Entry& entry);

/// A line of the journal: an object with one key, whose value is the record.
OrderedJson line_of(const Entry& entry);
OrderedJson line_of(const WorkerRecord& worker);
OrderedJson line_of(const EndRecord& end);
OrderedJson line_of(const CountRecord& count);
OrderedJson line_of(const ApiRecord& record);
OrderedJson line_of(const SyncRecord& record);
OrderedJson line_of(const CaptureRecord& record);

/// The inverse. Throws UsageError naming the place of a missing or invalid value. Beyond the schema
/// it checks, for example, the order of an interval's ends and that a name matches its axes.
/// `measured`: the entry is an item of `benchmarks`.
Entry entry_from_json(const Fields& item, bool measured);
WorkerRecord worker_from(const Fields& item);
EndRecord end_from(const Fields& item);
CountRecord count_from(const Fields& item);
ApiRecord api_record_from(const Fields& item);
SyncRecord sync_record_from(const Fields& item);
CaptureRecord capture_record_from(const Fields& item);

/// Throws UsageError naming the JSON pointer of the first number that is not finite.
void require_finite(const OrderedJson& value);

}  // namespace dlbench::results
