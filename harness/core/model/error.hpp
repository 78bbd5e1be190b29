#pragma once

#include <stdexcept>

namespace dlbench {

/// Bad usage or bad input. The text is one line that names the fault and the allowed values. The
/// command line prints it on stderr and exits with status 2.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace dlbench
