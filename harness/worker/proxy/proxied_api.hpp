#pragma once

#include "worker/base/py.hpp"
#include "worker/proxy/recorder.hpp"
#include "worker/proxy/replay.hpp"

namespace dlbench::worker {

/// A capsule with a table whose functions call the API of the producer behind a proxy. New
/// reference.
PyObject* proxied_exchange_api();

struct ProxiedProducer {
  PyObject* x;
  Recorder* recorder;
  Replay* replay;
};
/// The object behind a proxy. Defined with the proxy.
ProxiedProducer proxied_producer(void* proxy);

}  // namespace dlbench::worker
