#pragma once

namespace dlbench::trace {

/// Tells a CUDA profiler to capture from here to the end of its scope (cuProfilerStart,
/// cuProfilerStop), where a library has loaded a CUDA driver into this process; else nothing.
class Capture {
 public:
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

  /// Whether a driver was told.
  bool told() const { return stop_ != nullptr; }

 private:
  int (*stop_)() = nullptr;
};

}  // namespace dlbench::trace
