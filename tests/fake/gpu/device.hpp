#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "gpu/capture.hpp"
#include "gpu/queues.hpp"
#include "gpu/vendor.hpp"

/// The fake devices of a process: contexts with their streams and events, as functions that CUDA
/// and HIP have alike. Each acts on the current context unless its handle tells another. Handles
/// are looked up and never dereferenced.
namespace dlbench::fake {

using device::Address;
using device::Event;
using device::Stream;

inline constexpr Code invalid_value = 1;
inline constexpr Code out_of_memory = 2;
inline constexpr Code invalid_handle = 400;
inline constexpr Code illegal_address = 700;

struct Context;

struct StreamState {
  Context* context;
  /// Whether it has implicit edges with the legacy stream.
  bool blocking;
  HardwareQueue* queue;
  /// Of its last work; null before the first.
  std::shared_ptr<Mark> last;
  /// What its work is captured into, and the last nodes there; null: its work runs.
  std::shared_ptr<Capture> capture;
  Nodes nodes;
};

struct Context {
  explicit Context(int of) : device(of) {}

  const int device;
  int retained = 0;
  /// The error of a kernel, after which each call in this context has the same.
  std::atomic<Code> fault{0};
  std::shared_ptr<StreamState> legacy;
  std::map<Stream, std::shared_ptr<StreamState>> streams;
  /// The last work of streams that were destroyed before it ended.
  std::vector<std::shared_ptr<Mark>> orphans;
};

/// A number that no other handle has or will have, and no address of anything.
void* next_handle();

/// Makes a context; an error where the device has no memory for it, or its compute mode forbids it.
Code open(Context** made, int device);
/// False for what is no context, or one that was destroyed.
bool is_open(const Context*);
/// Destroys it with its streams and events, after their work.
void close(Context&);
/// A device's primary context; nullptr: it has none now.
Context* primary(int device);
Code retain_primary(Context** found, int device);
/// False where it is not retained.
bool release_primary(int device);

/// The contexts that this thread made current, the last one on top.
std::vector<Context*>& contexts();
/// nullptr: none.
Context* current();

/// Keeps an error that a context does not recover from.
void keep_fault(Context&, Code);

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
/// nullptr for what is no stream.
Context* context_of(Stream);

Code capture_begin(Stream, CaptureMode);
/// Always takes the streams out of the capture that began on this one; the graph is null after an
/// error.
Code capture_end(Stream, void** graph);
/// 0: none, 1: active, 2: invalidated.
Code capture_status(Stream, int* status);
/// Without `nodes` only their number.
Code graph_nodes(void* graph, void** nodes, std::size_t* count);
Code graph_destroy(void* graph);

Code event_create(Event* made, unsigned flags);
Code event_destroy(Event);
Code event_record(Event, Stream);
Code event_query(Event);
Code event_synchronize(Event);
Code event_elapsed(float* milliseconds, Event begin, Event end);

/// Puts work on a stream, with the implicit edges of the legacy one. The work's error is the fault
/// of its context.
Code submit(Stream, std::function<Code()> work);

Code allocate(Address* made, std::size_t bytes);
Code allocate_managed(Address* made, std::size_t bytes);
Code allocate_pinned(void** made, std::size_t bytes, bool coherent = true);
Code allocate_async(Address* made, std::size_t bytes, Stream);
/// Waits for the device first.
Code free_memory(Address);
Code free_pinned(void*);
Code free_async(Address, Stream);

/// Between any memory. The host waits where one side is pageable.
Code copy(Address to, Address from, std::size_t bytes, Stream);

/// Repeats a value of `size` bytes.
Code fill_bytes(Address begin, const void* value, std::size_t size, std::size_t count, Stream);

template <typename T>
Code fill(Address begin, T value, std::size_t count, Stream stream) {
  return fill_bytes(begin, &value, sizeof value, count, stream);
}

/// The time that kernels read, in steps.
std::int64_t timer();

}  // namespace dlbench::fake
