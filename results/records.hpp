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

/// For writing: keys keep the order in which people read them.
using OrderedJson = nlohmann::ordered_json;

/// What an import changed for all others in its process: names by kind of effect.
using Effects = std::map<std::string, std::vector<std::string>>;

/// What one worker reported of itself.
struct WorkerRecord {
  std::string environment = "default";
  std::vector<std::string> imports;  ///< its libraries, in the order of import
  std::string python;
  bool gil = true;
  std::map<std::string, double> floors_ns;
  std::map<std::string, double> copy_floors_gb_per_s;  ///< empty where it was not requested
  std::map<std::string, std::uint64_t>
      copy_floors_bytes;               ///< by device, of a block that was copied
  std::optional<double> reference_ns;  ///< its median; none where it could not be measured
  std::map<std::string, std::string> libraries;   ///< versions as imported
  std::map<std::string, Effects> import_effects;  ///< by library
  double import_s = 0;
};

/// The end of one session; a resumed journal holds several.
struct EndRecord {
  double wall_s = 0;
  double round_s = 0;  ///< of that, in rounds
  int signal = 0;      ///< 0, SIGINT or SIGTERM
};

/// What was counted of a recorded cell afterwards: a number, or why there is none.
struct CountRecord {
  std::string cell;                    ///< its name
  std::optional<double> instructions;  ///< of one exchange
  std::string failure;
};

/// What was counted of a recorded cell's calls of the CUDA driver: these, or why there are none.
struct ApiRecord {
  std::string cell;
  std::optional<ApiCalls> calls;
  std::string failure;
};

/// The synchronization of a recorded cell, classified afterwards, as `sync` and `late_free` stand
/// on its entry; or why nothing was.
struct SyncRecord {
  std::string cell;
  std::vector<Ordering> sync;
  std::string late_free;
  std::string race;  ///< why the cell is one, and has no number any more; empty: it is none
  std::string failure;
};

/// A recorded cell as its item of `benchmarks` (measured) or `not_measured`. Times in ns. Empty
/// keys (no exception, no late read) are left out.
OrderedJson entry_to_json(const Entry& entry);

/// Lines of the journal: one key, behind which the record stands.
OrderedJson line_of(const Entry& entry);
OrderedJson line_of(const WorkerRecord& worker);
OrderedJson line_of(const EndRecord& end);
OrderedJson line_of(const CountRecord& count);
OrderedJson line_of(const ApiRecord& record);
OrderedJson line_of(const SyncRecord& record);

/// The inverse. Throws UsageError naming the place of what is missing or cannot be: by the schema,
/// and by what no schema can express, as an interval that does not hold its order or a name that is
/// not its axes'. Of an entry, `measured` is which of the two items it is to be.
Entry entry_from_json(const Fields& item, bool measured);
WorkerRecord worker_from(const Fields& item);
EndRecord end_from(const Fields& item);
CountRecord count_from(const Fields& item);
ApiRecord api_record_from(const Fields& item);
SyncRecord sync_record_from(const Fields& item);

/// Throws UsageError naming the JSON pointer of the first number that is not finite.
void require_finite(const OrderedJson& value);

}  // namespace dlbench::results
