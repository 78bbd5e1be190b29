#pragma once

#include <array>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// Counts the capsules that are destroyed while this object lives, by name, to detect a consumer
/// that uses another path. Only one object may exist in a process.
class CapsuleDeaths {
 public:
  /// Dltensor, used_dltensor, the two versioned names, any other.
  using Counts = std::array<int, 5>;

  CapsuleDeaths();
  CapsuleDeaths(const CapsuleDeaths&) = delete;
  CapsuleDeaths& operator=(const CapsuleDeaths&) = delete;
  ~CapsuleDeaths();

  Counts counts() const;
};

}  // namespace dlbench::worker
