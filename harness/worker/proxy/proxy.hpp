#pragma once

#include "worker/arrays/shown.hpp"
#include "worker/base/py.hpp"
#include "worker/proxy/recorder.hpp"
#include "worker/proxy/replay.hpp"

namespace dlbench::worker {

/// Makes a proxy of x that offers exactly these protocols and forwards every request to x.
Ref make_proxy(PyObject* x, Shown shown);

bool is_proxy(PyObject* object);

/// A proxy that also records each request until the end of its scope. A consumer may keep the proxy
/// and call it again later.
class RecordingProxy {
 public:
  RecordingProxy(PyObject* x, Shown shown, Recorder& recorder);
  RecordingProxy(const RecordingProxy&) = delete;
  RecordingProxy& operator=(const RecordingProxy&) = delete;
  ~RecordingProxy();
  PyObject* get() const { return proxy_.get(); }

 private:
  Ref proxy_;
};

/// A proxy that returns the answers of a replay instead of those of x, until the end of its scope.
class ReplayingProxy {
 public:
  ReplayingProxy(PyObject* x, Shown shown, Replay& replay);
  ReplayingProxy(const ReplayingProxy&) = delete;
  ReplayingProxy& operator=(const ReplayingProxy&) = delete;
  ~ReplayingProxy();
  PyObject* get() const { return proxy_.get(); }

 private:
  Ref proxy_;
};

}  // namespace dlbench::worker
