#pragma once

#include <array>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// Counts capsules that die while it is active, by name: a consumer that takes another path leaves
/// other capsules behind. One at a time in a process.
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
