#pragma once

#include <array>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// Counts capsules that are destroyed while it is active, by name. A consumer that uses another
/// path leaves other capsules. Only one may be active in a process.
class CapsuleDeaths {
 public:
  using Counts = std::array<int, 5>;  ///< dltensor, used_dltensor, the same versioned, any other

  CapsuleDeaths();
  CapsuleDeaths(const CapsuleDeaths&) = delete;
  CapsuleDeaths& operator=(const CapsuleDeaths&) = delete;
  ~CapsuleDeaths();

  Counts counts() const;
};

}  // namespace dlbench::worker
