#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>

#include "fleet/cell_recorder.hpp"
#include "fleet/conversation.hpp"
#include "results/records.hpp"

namespace dlbench::fleet {

/// What a worker measures of itself and of its machine beside its exchanges.
class Instruments {
 public:
  Instruments(Context& context, Conversation& worker) : context_(context), worker_(worker) {}

  /// Throw as Conversation::ask(). The numbers go into the worker's record.
  void measure_floors(results::WorkerRecord& record);
  void measure_device_floors(std::span<const Task> tasks, results::WorkerRecord& record);
  void measure_reference(CellRecorder& recorder, results::WorkerRecord& record);

  /// How much memory of its devices the worker holds. A warning where no other worker fits beside
  /// it.
  void report_device_memory(const std::set<std::string>& devices, Warnings& warnings);
  /// The worker has ended.
  void forget_device_memory();

 private:
  Context& context_;
  Conversation& worker_;
  std::map<std::string, std::uint64_t> device_bytes_;  ///< of each device, what the worker took
};

}  // namespace dlbench::fleet
