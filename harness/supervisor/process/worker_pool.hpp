#pragma once

#include <memory>
#include <string>
#include <vector>

#include "supervisor/process/grandchildren.hpp"
#include "supervisor/process/worker.hpp"

namespace dlbench::supervisor {

/// All live workers of a run. Kills the processes that dead workers leave behind.
class WorkerPool {
 public:
  WorkerPool() = default;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  /// Throws std::system_error if the program cannot be started.
  std::unique_ptr<Worker> start_worker(const std::vector<std::string>& command, double timeout_s);

  /// Requests the end of the workers, waits a moment, kills those that are left, and the processes
  /// that they left behind.
  void dismiss(std::vector<std::unique_ptr<Worker>> workers);
  void dismiss(std::unique_ptr<Worker> worker);

 private:
  Grandchildren grandchildren_{Grandchildren::Kill::all};
};

}  // namespace dlbench::supervisor
