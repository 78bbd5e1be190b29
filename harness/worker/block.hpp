#pragma once

#include <span>

#include "measure/round.hpp"
#include "worker/crossing.hpp"

namespace dlbench::worker {

/// What one timed block does over and over: the consumer's call on the next array of a pool, the
/// wait for its data where `ready` is given, and the release of what came back.
struct Block {
  Crossing& crossing;
  std::span<PyObject* const> given;
  std::size_t& next;
  PyObject* ready = nullptr;

  measure::Body body() { return {ready != nullptr ? &call_and_wait : &call, this}; }

 private:
  PyObject* advance() {
    PyObject* x = given[next];
    next = next + 1 == given.size() ? 0 : next + 1;
    return x;
  }

  static bool call(void* self) {
    auto* block = static_cast<Block*>(self);
    PyObject* result = block->crossing(block->advance());
    if (result == nullptr) return false;
    Py_DECREF(result);
    return true;
  }

  static bool call_and_wait(void* self) {
    auto* block = static_cast<Block*>(self);
    PyObject* result = block->crossing(block->advance());
    if (result == nullptr) return false;
    PyObject* waited = PyObject_CallOneArg(block->ready, result);
    Py_DECREF(result);
    Py_XDECREF(waited);
    return waited != nullptr;
  }
};

}  // namespace dlbench::worker
