#pragma once

#include "model/warning.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// Takes what libraries say through Python's `warnings` within its scope, hidden ones included.
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
