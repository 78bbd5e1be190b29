#pragma once

#include <dlpack/dlpack.h>

#include <array>

#include "worker/py.hpp"

namespace dlbench::worker {

/// Where the producers' deleters run. Puts a deleter of its own before the one of a managed tensor,
/// so never while timing.
class Lifetimes {
 public:
  enum class When { import, release, later };

  struct Counts {
    int watched = 0;
    std::array<int, 3> ran{};  ///< by When; deleters that have not run at all are in none

    int in(When when) const { return ran[static_cast<std::size_t>(when)]; }
  };

  /// Begins to count anew.
  static void begin();

  /// A capsule with a managed tensor that nobody took yet, or such a tensor itself.
  static void watch(PyObject* capsule);
  static void watch(DLManagedTensorVersioned* managed);

  /// What goes on from now on.
  static void now(When when);

  static Counts counts();
};

/// Capsules that die while it is in force, by name: a consumer that takes another path leaves other
/// capsules behind. One at a time in a process.
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
