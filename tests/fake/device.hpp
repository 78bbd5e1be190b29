#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "calls.hpp"
#include "queues.hpp"

/// The fake devices of a process: contexts with their streams and events, as functions that CUDA
/// and HIP have alike. Each acts on the current context unless its handle tells another.
namespace dlbench::fake {

using device::Address;
using device::Event;
using device::Stream;

inline constexpr Code invalid_value = 1;
inline constexpr Code out_of_memory = 2;
inline constexpr Code invalid_handle = 400;

struct Context;

struct StreamState {
  Context* context;
  /// Whether it has implicit edges with the legacy stream.
  bool blocking;
  HardwareQueue* queue;
  /// Of its last work; null before the first.
  std::shared_ptr<Mark> last;
};

struct Context {
  int device = 0;
  int retained = 0;
  std::shared_ptr<StreamState> legacy;
  std::map<Stream, std::shared_ptr<StreamState>> streams;
  /// The last work of streams that were destroyed before it ended.
  std::vector<std::shared_ptr<Mark>> orphans;
};

/// A device's primary context, made when it is first asked for.
Context& primary(int device);

/// The contexts that this thread made current, the last one on top.
std::vector<Context*>& contexts();
/// nullptr: none.
Context* current();

template <typename T>
T* pointer(Address address) {
  return reinterpret_cast<T*>(static_cast<std::uintptr_t>(address));
}

Code synchronize();

Code stream_create(Stream* made, unsigned flags);
Code stream_destroy(Stream);
Code stream_synchronize(Stream);
Code stream_query(Stream);
Code stream_wait(Stream, Event, unsigned flags);
Code stream_flags(Stream, unsigned* flags);

Code event_create(Event* made, unsigned flags);
Code event_destroy(Event);
Code event_record(Event, Stream);
Code event_query(Event);
Code event_synchronize(Event);
Code event_elapsed(float* milliseconds, Event begin, Event end);

/// Puts work on a stream, with the implicit edges of the legacy one.
Code submit(Stream, std::function<void()> work);

Code allocate(Address* made, std::size_t bytes);
Code allocate_managed(Address* made, std::size_t bytes);
Code allocate_pinned(void** made, std::size_t bytes);
Code allocate_async(Address* made, std::size_t bytes, Stream);
/// Waits for the device first.
Code free_memory(Address);
Code free_pinned(void*);
Code free_async(Address, Stream);

Code copy(Address to, Address from, std::size_t bytes, Stream);

template <typename T>
Code fill(Address begin, T value, std::size_t count, Stream stream) {
  return submit(stream, [=] { std::fill_n(pointer<T>(begin), count, value); });
}

/// The time that kernels read, in steps.
std::int64_t timer();

}  // namespace dlbench::fake
