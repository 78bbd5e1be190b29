#pragma once

#include <span>

#include "measure/round.hpp"
#include "worker/library/import_call.hpp"

namespace dlbench::worker {

/// The body of one timed block: the consumer's call with the next input, the wait for its data if
/// `ready` is not null, and the release of the result.
struct Block {
  ImportCall& import_call;
  std::span<PyObject* const> inputs;
  std::size_t& next;
  PyObject* ready = nullptr;

  measure::Body body() { return {ready != nullptr ? &run<true> : &run<false>, this}; }

 private:
  template <bool waits>
  static std::uint64_t run(void* self, std::uint64_t times) {
    const auto* block = static_cast<const Block*>(self);
    // A separate loop for bare callables, because the additional steps cost 3 % of the cheapest
    // exchange.
    if (const std::optional<Direct> direct = block->import_call.direct()) {
      return repeat<waits>(*block, times, *direct);
    }
    if (const std::optional<Spread>& spread = block->import_call.spread()) {
      return repeat<waits>(*block, times, *spread);
    }
    return repeat<waits, ImportCall&>(*block, times, block->import_call);
  }

  template <bool waits, typename Once>
  static std::uint64_t repeat(const Block& block, std::uint64_t times, Once once) {
    PyObject* const* const inputs = block.inputs.data();
    const std::size_t count = block.inputs.size();
    std::size_t next = block.next;
    std::uint64_t done = 0;
    for (; done < times; ++done) {
      PyObject* result = once(inputs[next]);
      next = next + 1 == count ? 0 : next + 1;
      if (result == nullptr) [[unlikely]]
        break;
      if constexpr (waits) {
        PyObject* waited = PyObject_CallOneArg(block.ready, result);
        Py_DECREF(result);
        if (waited == nullptr) [[unlikely]]
          break;
        Py_DECREF(waited);
      } else {
        Py_DECREF(result);
      }
    }
    block.next = next;
    return done;
  }
};

}  // namespace dlbench::worker
