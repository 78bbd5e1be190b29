#include "supervisor/process/worker_pool.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace dlbench::supervisor {
namespace {

// A healthy worker handles "end" at once, but the kernel needs a moment to free its memory.
constexpr double kEndWait = 1.0;

}  // namespace

std::unique_ptr<Worker> WorkerPool::start_worker(const std::vector<std::string>& command,
                                                 double timeout_s) {
  return std::make_unique<Worker>(Command{command}, timeout_s);
}

void WorkerPool::dismiss(std::vector<std::unique_ptr<Worker>> workers) {
  std::erase(workers, nullptr);
  for (const auto& worker : workers) {
    // A worker with a pending request would read "end" only after it.
    if (!worker->waiting()) worker->request_end();
  }
  const double patience = now_s() + kEndWait;
  const auto is_leaving = [](const auto& worker) { return !worker->waiting() && !worker->ended(); };
  while (now_s() < patience && std::any_of(workers.begin(), workers.end(), is_leaving)) {
    ::usleep(500);
  }
}

void WorkerPool::dismiss(std::unique_ptr<Worker> worker) {
  std::vector<std::unique_ptr<Worker>> one;
  one.push_back(std::move(worker));
  dismiss(std::move(one));
}

}  // namespace dlbench::supervisor
