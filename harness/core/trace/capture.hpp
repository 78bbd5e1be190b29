#pragma once

namespace dlbench::trace {

/// Starts the capture of a CUDA profiler until the end of its scope (cuProfilerStart,
/// cuProfilerStop). Does nothing unless a library has loaded a CUDA driver into this process.
class Capture {
 public:
  Capture();
  ~Capture();
  Capture(const Capture&) = delete;
  Capture& operator=(const Capture&) = delete;

 private:
  int (*stop_)() = nullptr;
};

}  // namespace dlbench::trace
