#pragma once

#include "model/warning.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// Takes what libraries say through Python's `warnings` within its scope, hidden ones included.
class Noted {
 public:
  Noted();
  Noted(const Noted&) = delete;
  Noted& operator=(const Noted&) = delete;
  ~Noted();

  /// "UnitStrippedWarning: The unit ...", each once, one line each.
  Warnings warnings() const;

 private:
  Ref context_;
  Ref list_;
};

}  // namespace dlbench::worker
