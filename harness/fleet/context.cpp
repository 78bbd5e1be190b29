#include "fleet/context.hpp"

#include <unistd.h>

namespace dlbench::fleet {

std::unique_ptr<Worker> Context::start_worker(const std::string& environment) {
  const auto found = options.pythons.find(environment);
  const std::string python = found == options.pythons.end() ? "python3" : found->second;
  return workers.start_worker(
      {python, options.worker_main, "--fd", "3", "--parent", std::to_string(::getpid())},
      options.timeout_s);
}

}  // namespace dlbench::fleet
