#pragma once

#include <chrono>
#include <utility>

namespace dlbench::worker {

/// Seconds that the libraries' own calls took outside rounds: makes, first calls, tapped calls.
/// What a run costs beside these and its rounds is dlbench's.
class LibraryTime {
 public:
  /// Counts from here to the end of its scope.
  class Span {
   public:
    Span() = default;
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    ~Span() {
      seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
    }

   private:
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

  /// What was counted since it was last taken.
  static double take() { return std::exchange(seconds_, 0.0); }

 private:
  inline static double seconds_ = 0;
};

}  // namespace dlbench::worker
