#pragma once

#include <span>

#include "measure/round.hpp"
#include "worker/library/import_call.hpp"

namespace dlbench::worker {

/// The body of one timed block: the consumer's call on the next array of a pool, the wait for its
/// data where `ready` is given, and the release of the result.
struct Block {
  ImportCall& import_call;
  std::span<PyObject* const> given;
  std::size_t& next;
  PyObject* ready = nullptr;

  measure::Body body() { return {ready != nullptr ? &run<true> : &run<false>, this}; }

 private:
  template <bool waits>
  static std::uint64_t run(void* self, std::uint64_t times) {
    const auto* block = static_cast<const Block*>(self);
    // The steps that a bare callable does not need cost 3 % of the cheapest exchange.
    if (const std::optional<Direct> direct = block->import_call.direct()) {
      return repeat<waits>(*block, times, *direct);
    }
    return repeat<waits, ImportCall&>(*block, times, block->import_call);
  }

  template <bool waits, typename Once>
  static std::uint64_t repeat(const Block& block, std::uint64_t times, Once once) {
    PyObject* const* const given = block.given.data();
    const std::size_t count = block.given.size();
    std::size_t next = block.next;
    std::uint64_t done = 0;
    for (; done < times; ++done) {
      PyObject* result = once(given[next]);
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
