#pragma once

#include "model/warning.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// Records the Python `warnings` of libraries within its scope, including those that are filtered
/// out.
class WarningCapture {
 public:
  WarningCapture();
  WarningCapture(const WarningCapture&) = delete;
  WarningCapture& operator=(const WarningCapture&) = delete;
  ~WarningCapture();

  /// "UnitStrippedWarning: The unit ...", each once, one line each.
  Warnings warnings() const;

 private:
  Ref context_;
  Ref list_;
};

}  // namespace dlbench::worker
