#pragma once

#include "worker/base/py.hpp"
#include "worker/proxy/replay.hpp"
#include "worker/proxy/tap.hpp"

namespace dlbench::worker {

/// Capsule of a table whose functions hand on to the API of the producer behind a relay. New
/// reference.
PyObject* relayed_exchange_api();

struct RelayedProducer {
  PyObject* x;
  Tap* tap;
  Replay* replay;
};
/// What stands behind a relay object. Defined with the relay.
RelayedProducer relayed_producer(void* relay);

}  // namespace dlbench::worker
