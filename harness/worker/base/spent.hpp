#pragma once

#include <chrono>
#include <utility>

namespace dlbench::worker {

/// Counts how a worker spends its time. The remaining time is spent in dlbench.
class Spent {
 public:
  enum class On {
    library,  ///< the libraries' own untimed calls: makes, first calls, recorded calls, preludes
    timing,   ///< timed blocks: rounds, calibration, floors
  };

  struct Seconds {
    double library;
    double timing;
  };

  /// Counts the time until the end of its scope.
  class Span {
   public:
    explicit Span(On what) : what_(what) {}
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;
    ~Span() {
      const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin_;
      (what_ == On::library ? seconds_.library : seconds_.timing) += took.count();
    }

   private:
    On what_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  };

  /// Returns the counts since the last call.
  static Seconds drain() { return std::exchange(seconds_, {0, 0}); }

 private:
  inline static Seconds seconds_{0, 0};
};

}  // namespace dlbench::worker
