#pragma once

#include "worker/base/py.hpp"
#include "worker/proxy/recorder.hpp"
#include "worker/proxy/replay.hpp"

namespace dlbench::worker {

/// Capsule of a table whose functions hand on to the API of the producer behind a proxy. New
/// reference.
PyObject* proxied_exchange_api();

struct ProxiedProducer {
  PyObject* x;
  Recorder* recorder;
  Replay* replay;
};
/// What stands behind a proxy object. Defined with the proxy.
ProxiedProducer proxied_producer(void* proxy);

}  // namespace dlbench::worker
