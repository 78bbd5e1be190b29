#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "results/records.hpp"
#include "supervisor/conversation.hpp"
#include "supervisor/ledger/cell_recorder.hpp"

namespace dlbench::supervisor {

/// Measures the overhead floors, the copy floors, the reference exchange and the device memory of a
/// worker.
class Instruments {
 public:
  Instruments(Context& context, Conversation& worker) : context_(context), worker_(worker) {}

  /// These throw like Conversation::request() and store their results in `record`.
  void measure_floors(results::WorkerRecord& record);
  void measure_device_floors(const std::set<std::string>& devices, results::WorkerRecord& record);
  void measure_reference(results::WorkerRecord& record);

  /// Reports how much memory of its devices the worker uses. Warns if no second worker fits.
  void report_device_memory(const std::set<std::string>& devices, Warnings& warnings);
  /// Call it when the worker has ended.
  void forget_device_memory();

 private:
  Context& context_;
  Conversation& worker_;
  std::map<std::string, std::uint64_t>
      device_bytes_;  ///< by device, the bytes that the worker uses
};

}  // namespace dlbench::supervisor
