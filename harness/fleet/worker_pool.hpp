#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fleet/grandchildren.hpp"
#include "fleet/worker.hpp"

namespace dlbench::fleet {

/// All workers of a run: which of them live; cleans up behind the dead ones.
class WorkerPool {
 public:
  WorkerPool() = default;
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;
  ~WorkerPool();

  /// Throws std::system_error where the program cannot be started.
  std::unique_ptr<Worker> start_worker(const std::vector<std::string>& command, double timeout_s);

  /// Asks them to end, gives them a moment, kills what is left, and what they left behind.
  void dismiss(std::vector<std::unique_ptr<Worker>> workers);
  void dismiss(std::unique_ptr<Worker> worker);

 private:
  Grandchildren grandchildren_;
  std::map<pid_t, std::string> marks_;  ///< of the workers that live
  int started_ = 0;
};

}  // namespace dlbench::fleet
