#include "gpu/device.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <thread>
#include <utility>

#include "device/sim.hpp"
#include "gpu/blocks.hpp"
#include "gpu/ledger.hpp"

namespace dlbench::fake {

namespace {

using device::Memory;

/// What an event with a time stamp costs its stream, and the step of the timer that kernels read.
constexpr int event_ns = 2000;
constexpr std::int64_t timer_step_ns = 1000;

struct EventState {
  Context* context;
  bool timed;
  /// Of what it was last recorded after; null before.
  std::shared_ptr<Mark> mark;
  /// The capture that it was last recorded in, and the nodes before it there.
  std::shared_ptr<Capture> capture;
  Nodes nodes;
};

struct Gpu {
  std::vector<std::unique_ptr<HardwareQueue>> queues;
  /// Of streams that share none.
  std::vector<std::unique_ptr<HardwareQueue>> unshared;
  unsigned streams = 0;
  Context* primary = nullptr;
};

/// All that a process has of its devices, but for the memory. What waits for a device does so
/// without the lock; only a queue that is full is waited for with it, as drivers do.
struct State {
  std::mutex mutex;
  std::array<Gpu, most_devices> gpus;
  std::map<Context*, std::unique_ptr<Context>> contexts;
  /// Queued work may still name them.
  std::vector<std::unique_ptr<Context>> closed;
  std::map<Stream, std::shared_ptr<StreamState>> streams;
  std::map<Event, std::shared_ptr<EventState>> events;
  std::map<void*, std::size_t> graphs;  // their number of nodes
};

State& state() {
  // Never destroyed: queues may still work when the process ends.
  static State& only = *std::make_unique<State>().release();
  return only;
}

Gpu& gpu_of(int device) {
  return state().gpus.at(static_cast<std::size_t>(device));
}

/// As the vendor's driver reads its own variable: once.
int vendor_queues() {
  static const int number = std::clamp(mode(vendor.queues_variable, vendor.queues), 1, 32);
  return number;
}

/// The first of a device's queues that the fewest of its streams have. With the lock.
std::size_t least_used_queue(int device, std::size_t most) {
  std::map<const HardwareQueue*, int> used;
  for (const auto& [context, owner] : state().contexts) {
    if (context->device != device) continue;
    if (context->legacy) ++used[context->legacy->queue];
    for (const auto& [handle, stream] : context->streams) ++used[stream->queue];
  }
  const auto& queues = gpu_of(device).queues;
  std::size_t least = 0;
  for (std::size_t i = 0; i < most; ++i) {
    if (i == queues.size()) return i;  // none has one that was never taken
    if (used[queues[i].get()] < used[queues[least].get()]) least = i;
  }
  return least;
}

/// With the lock.
HardwareQueue& next_queue(int device) {
  Gpu& gpu = gpu_of(device);
  const auto most = static_cast<unsigned>(mode("DLBENCH_FAKE_QUEUES", vendor_queues()));
  const unsigned turn = gpu.streams++;
  if (most == 0) return *gpu.unshared.emplace_back(std::make_unique<HardwareQueue>());
  const std::size_t index = vendor.takes_least_used ? least_used_queue(device, most) : turn % most;
  while (gpu.queues.size() <= index) gpu.queues.push_back(std::make_unique<HardwareQueue>());
  return *gpu.queues[index];
}

std::shared_ptr<StreamState> make_stream(Context& context, bool blocking) {
  return std::make_shared<StreamState>(
      StreamState{&context, blocking, &next_queue(context.device), nullptr, nullptr, {}});
}

/// Of this thread in the current context. With the lock.
std::shared_ptr<StreamState> per_thread_stream(Context& context) {
  thread_local std::map<Context*, std::shared_ptr<StreamState>> own;
  std::shared_ptr<StreamState>& found = own[&context];
  if (!found) {
    found = make_stream(context, true);
    context.streams[next_handle()] = found;
  }
  return found;
}

/// The state behind an invalid handle: none, or the end of the process.
template <typename State>
std::shared_ptr<State> no_handle() {
  if (mode("DLBENCH_FAKE_HANDLES", 0) != 0) std::raise(SIGSEGV);
  return nullptr;
}

/// Null for a handle that is no stream's. With the lock.
std::shared_ptr<StreamState> find(Stream handle) {
  const auto number = reinterpret_cast<std::uintptr_t>(handle);
  if (number <= 2) {
    Context* const context = current();
    if (context == nullptr) return nullptr;
    return number == 2 ? per_thread_stream(*context) : context->legacy;
  }
  const auto found = state().streams.find(handle);
  return found == state().streams.end() ? no_handle<StreamState>() : found->second;
}

std::shared_ptr<EventState> find_event(Event handle) {
  const auto found = state().events.find(handle);
  return found == state().events.end() ? no_handle<EventState>() : found->second;
}

/// An invalid operation invalidates the graph, and ends with `code`.
Code invalidate(Capture& capture, Code code) {
  capture.is_invalidated = true;
  return code;
}

/// The captures that `matches(stream, capture)` on one of their streams. With the lock.
template <typename Matches>
std::vector<std::shared_ptr<Capture>> captures(const Matches& matches) {
  std::vector<std::shared_ptr<Capture>> found;
  for (const auto& [context, owner] : state().contexts) {
    for (const auto& [handle, stream] : context->streams) {
      if (stream->capture && matches(*stream, *stream->capture)) found.push_back(stream->capture);
    }
  }
  return found;
}

Code invalidate(const std::vector<std::shared_ptr<Capture>>& found, Code code) {
  for (const auto& capture : found) invalidate(*capture, code);
  return found.empty() ? 0 : code;
}

/// "When any stream in the same context is being captured, and it was not created with
/// cudaStreamNonBlocking, any attempted use of the legacy stream is invalid." With the lock.
Code use(const StreamState& stream) {
  const Context& context = *stream.context;
  if (&stream != context.legacy.get()) {
    return stream.capture && stream.capture->is_invalidated ? stream_capture_invalidated : 0;
  }
  return invalidate(captures([&](const StreamState& other, const Capture&) {
                      return other.context == &context && other.blocking;
                    }),
                    stream_capture_implicit);
}

/// "It is invalid to synchronize or query the execution status of a stream which is being
/// captured." With the lock.
Code observe(const StreamState& stream) {
  if (const Code code = use(stream)) return code;
  return stream.capture ? invalidate(*stream.capture, stream_capture_unsupported) : 0;
}

/// "or a captured event". With the lock.
Code observe(const EventState& event) {
  return event.capture ? invalidate(*event.capture, captured_event) : 0;
}

/// "a broader handle which encompasses an active stream capture, such as a device or context
/// handle". With the lock.
Code observe(const Context& context) {
  return invalidate(captures([&](const StreamState& stream, const Capture&) {
                      return stream.context == &context;
                    }),
                    stream_capture_unsupported);
}

/// Potentially unsafe calls: cuThreadExchangeStreamCaptureMode names cudaMalloc.
Code begin_unsafe_call() {
  const std::lock_guard lock(state().mutex);
  return invalidate(captures([](const StreamState&, const Capture& capture) {
                      return capture.prohibits(std::this_thread::get_id());
                    }),
                    stream_capture_unsupported);
}

using Marks = std::vector<std::shared_ptr<Mark>>;

void add(Marks& marks, const std::shared_ptr<Mark>& mark) {
  if (mark && !mark->is_fired()) marks.push_back(mark);
}

/// Does a stream capture? Then its next work becomes a node. With the lock.
bool is_captured(StreamState& stream) {
  if (stream.capture) stream.capture->add(stream.nodes);
  return stream.capture != nullptr;
}

/// A wait for a captured event takes the stream into that capture. With the lock.
Code join(StreamState& stream, const EventState& event) {
  if (event.capture->is_invalidated) return stream_capture_invalidated;
  // It cannot capture. The documentation does not name this error: its text is that of 906, "a
  // disallowed implicit dependency on a current capture sequence from cudaStreamLegacy".
  if (&stream == stream.context->legacy.get()) {
    return invalidate(*event.capture, stream_capture_implicit);
  }
  if (stream.capture && stream.capture != event.capture) {
    invalidate(*stream.capture, stream_capture_merge);
    return invalidate(*event.capture, stream_capture_merge);
  }
  stream.capture = event.capture;
  stream.nodes.insert(event.nodes.begin(), event.nodes.end());
  return 0;
}

/// What a stream's next work comes after beside its own. With the lock.
Marks implicit_edges(const StreamState& stream) {
  Marks found;
  const Context& context = *stream.context;
  if (&stream == context.legacy.get()) {
    for (const auto& [handle, other] : context.streams) {
      if (other->blocking) add(found, other->last);
    }
  } else if (stream.blocking) {
    add(found, context.legacy->last);
  }
  return found;
}

/// Puts work on a stream; after a fault of its context nothing runs there. With the lock.
std::shared_ptr<Mark> push(StreamState& stream, HardwareQueue::Work work) {
  auto mark = std::make_shared<Mark>();
  stream.queue->push([before = implicit_edges(stream), work = std::move(work), mark,
                      context = stream.context](std::int64_t& clock) {
    for (const auto& edge : before) clock = std::max(clock, edge->wait());
    if (context->fault == 0) work(clock);
    mark->fire(clock);
  });
  stream.last = mark;
  return mark;
}

/// Work that costs its own time, and whose error is its context's fault.
std::shared_ptr<Mark> push_timed(StreamState& stream, std::function<Code()> work) {
  return push(stream, [work = std::move(work), context = stream.context](std::int64_t& clock) {
    const std::int64_t begin = device::sim::now();
    keep_fault(*context, work());
    clock += device::sim::now() - begin;
  });
}

/// All that is pending in a context. With the lock.
Marks pending(const Context& context) {
  Marks found;
  if (context.legacy) add(found, context.legacy->last);
  for (const auto& [handle, stream] : context.streams) add(found, stream->last);
  for (const auto& mark : context.orphans) add(found, mark);
  return found;
}

/// Waits, and lets the host see what was written.
void wait(const Marks& marks) {
  for (const auto& mark : marks) mark->wait();
  std::this_thread::sleep_for(std::chrono::milliseconds(mode("DLBENCH_FAKE_WAIT_MS", 0)));
  Blocks::instance().publish();
}

/// All contexts of it.
void wait_for_device(int device) {
  Marks found;
  {
    const std::lock_guard lock(state().mutex);
    for (const auto& [context, owner] : state().contexts) {
      if (context->device != device) continue;
      for (const auto& mark : pending(*context)) found.push_back(mark);
    }
  }
  wait(found);
}

Code allocate(void** made, std::size_t bytes, Memory kind, const void* stream = nullptr,
              bool coherent = true) {
  if (stream == nullptr) {
    if (const Code code = begin_unsafe_call()) return code;
  }
  *made = Blocks::instance().allocate({0, bytes, kind, current()->device, coherent}, stream);
  return *made != nullptr ? 0 : out_of_memory;
}

Code allocate(Address* made, std::size_t bytes, Memory kind, const void* stream = nullptr) {
  void* begin = nullptr;
  const Code code = allocate(&begin, bytes, kind, stream);
  *made = reinterpret_cast<std::uintptr_t>(begin);
  return code;
}

}  // namespace

void* next_handle() {
  static std::atomic<std::uintptr_t> last{0xFA4E'0000'0000};
  return reinterpret_cast<void*>(last += 64);
}

Code open(Context** made, int device) {
  if (const Code code = open_context(device)) return code;
  auto context = std::make_unique<Context>(device);
  const std::lock_guard lock(state().mutex);
  context->legacy = make_stream(*context, false);
  *made = context.get();
  state().contexts.emplace(*made, std::move(context));
  return 0;
}

bool is_open(const Context* context) {
  const std::lock_guard lock(state().mutex);
  return state().contexts.contains(const_cast<Context*>(context));
}

void close(Context& context) {
  Marks last;
  {
    const std::lock_guard lock(state().mutex);
    last = pending(context);
    const auto is_inside = [&](const auto& item) { return item.second->context == &context; };
    std::erase_if(state().streams, is_inside);
    std::erase_if(state().events, is_inside);
    const auto found = state().contexts.find(&context);
    state().closed.push_back(std::move(found->second));
    state().contexts.erase(found);
    Gpu& gpu = gpu_of(context.device);
    if (gpu.primary == &context) gpu.primary = nullptr;
  }
  wait(last);
  close_context(context.device);
}

Context* primary(int device) {
  const std::lock_guard lock(state().mutex);
  return gpu_of(device).primary;
}

Code retain_primary(Context** found, int device) {
  // One at a time, so that two threads do not make two.
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  *found = primary(device);
  if (*found == nullptr) {
    if (const Code code = open(found, device)) return code;
    const std::lock_guard inner(state().mutex);
    gpu_of(device).primary = *found;
  }
  ++(*found)->retained;
  return 0;
}

bool release_primary(int device) {
  Context* const context = primary(device);
  if (context == nullptr) return false;
  if (--context->retained == 0) close(*context);
  return true;
}

std::vector<Context*>& contexts() {
  thread_local std::vector<Context*> stack;
  return stack;
}

Context* current() {
  return contexts().empty() ? nullptr : contexts().back();
}

void keep_fault(Context& context, Code code) {
  Code none = 0;
  if (code != 0) context.fault.compare_exchange_strong(none, code);
}

Code synchronize() {
  Context& context = *current();
  Marks found;
  {
    const std::lock_guard lock(state().mutex);
    if (const Code code = observe(context)) return code;
    found = pending(context);
  }
  wait(found);
  return context.fault;
}

Code stream_create(Stream* made, unsigned flags) {
  const std::lock_guard lock(state().mutex);
  Context& context = *current();
  *made = next_handle();
  state().streams[*made] = context.streams[*made] =
      make_stream(context, (flags & device::non_blocking) == 0);
  return 0;
}

Code stream_destroy(Stream handle) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().streams.find(handle);
  if (found == state().streams.end()) return vendor.destroyed;
  // A driver's destroy returns at once; the queued work ends by itself.
  Context& context = *found->second->context;
  std::erase_if(context.orphans, [](const auto& mark) { return mark->is_fired(); });
  add(context.orphans, found->second->last);
  context.streams.erase(handle);
  state().streams.erase(found);
  return 0;
}

Code stream_synchronize(Stream handle) {
  Marks last;
  const Context* context = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    const auto stream = find(handle);
    if (!stream) return vendor.destroyed;
    if (const Code code = observe(*stream)) return code;
    context = stream->context;
    add(last, stream->last);
    // The default stream has no more to do when those that it waits for have.
    if (stream == context->legacy) {
      for (const auto& mark : implicit_edges(*stream)) last.push_back(mark);
    }
  }
  wait(last);
  return context->fault;
}

Code stream_query(Stream handle) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return vendor.destroyed;
  if (const Code code = observe(*stream)) return code;
  return stream->last && !stream->last->is_fired() ? device::not_ready
                                                   : Code{stream->context->fault};
}

Context* context_of(Stream handle) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  return stream ? stream->context : nullptr;
}

Code stream_flags(Stream handle, unsigned* flags) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return vendor.destroyed;
  *flags = stream->blocking || stream == stream->context->legacy ? 0 : device::non_blocking;
  return 0;
}

Code stream_wait(Stream handle, Event waited, unsigned) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  const auto event = find_event(waited);
  if (!stream || !event) return invalid_handle;
  if (const Code code = use(*stream)) return code;
  if (event->capture) return join(*stream, *event);
  if (!event->mark) return 0;
  // "It is invalid to wait on a non-captured event from a stream which is being captured."
  if (stream->capture) return invalidate(*stream->capture, stream_capture_isolation);
  push(*stream,
       [mark = event->mark](std::int64_t& clock) { clock = std::max(clock, mark->wait()); });
  return 0;
}

Code capture_begin(Stream handle, CaptureMode mode) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return vendor.destroyed;
  if (stream == stream->context->legacy) return stream_capture_unsupported;
  if (stream->capture) return illegal_state;
  stream->capture =
      std::make_shared<Capture>(Capture{mode, std::this_thread::get_id(), stream.get(), false, {}});
  stream->nodes.clear();
  return 0;
}

Code capture_end(Stream handle, void** graph) {
  *graph = nullptr;
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return vendor.destroyed;
  const auto capture = stream->capture;
  if (!capture) return illegal_state;
  if (capture->origin != stream.get()) return invalidate(*capture, stream_capture_unmatched);
  if (capture->mode != CaptureMode::Relaxed && capture->thread != std::this_thread::get_id()) {
    return stream_capture_wrong_thread;
  }
  const bool is_joined = capture->is_joined(stream->nodes);
  for (const auto& [context, owner] : state().contexts) {
    for (const auto& [number, other] : context->streams) {
      if (other->capture == capture) other->capture = nullptr;
    }
  }
  const bool is_invalidated = std::exchange(capture->is_invalidated, true);  // for its events
  if (is_invalidated) return stream_capture_invalidated;
  if (!is_joined) return stream_capture_unjoined;
  *graph = next_handle();
  state().graphs[*graph] = capture->edges.size();
  return 0;
}

Code capture_status(Stream handle, int* status) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return vendor.destroyed;
  if (stream == stream->context->legacy) {
    *status = 0;
    return use(*stream);
  }
  *status = !stream->capture ? 0 : stream->capture->is_invalidated ? 2 : 1;
  return 0;
}

Code graph_nodes(void* graph, void** nodes, std::size_t* count) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().graphs.find(graph);
  if (found == state().graphs.end()) return invalid_value;
  if (nodes != nullptr) std::generate_n(nodes, std::min(*count, found->second), next_handle);
  *count = found->second;
  return 0;
}

Code graph_destroy(void* graph) {
  const std::lock_guard lock(state().mutex);
  return state().graphs.erase(graph) == 1 ? 0 : invalid_value;
}

Code event_create(Event* made, unsigned flags) {
  const std::lock_guard lock(state().mutex);
  *made = next_handle();
  state().events[*made] = std::make_shared<EventState>(
      EventState{current(), (flags & device::no_timing) == 0, nullptr, nullptr, {}});
  return 0;
}

Code event_destroy(Event handle) {
  const std::lock_guard lock(state().mutex);
  return state().events.erase(handle) == 1 ? 0 : vendor.destroyed;
}

Code event_record(Event handle, Stream on) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(on);
  const auto event = find_event(handle);
  if (!stream) return vendor.destroyed;
  // A wait may cross contexts, a record may not.
  if (!event || event->context != stream->context) return invalid_handle;
  if (const Code code = use(*stream)) return code;
  event->capture = stream->capture;
  event->nodes = stream->nodes;
  if (event->capture) return 0;  // an edge of the graph, no node
  const int cost = event->timed ? event_ns : 0;
  event->mark = push(*stream, [cost](std::int64_t& clock) {
    clock += cost;
    while (device::sim::now() < clock) {
    }
  });
  return 0;
}

Code event_query(Event handle) {
  const std::lock_guard lock(state().mutex);
  const auto event = find_event(handle);
  if (!event) return invalid_handle;
  if (const Code code = observe(*event)) return code;
  return event->mark && !event->mark->is_fired() ? device::not_ready : Code{event->context->fault};
}

Code event_synchronize(Event handle) {
  Marks marks;
  const Context* context = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    const auto event = find_event(handle);
    if (!event) return invalid_handle;
    if (const Code code = observe(*event)) return code;
    context = event->context;
    add(marks, event->mark);
  }
  wait(marks);
  return context->fault;
}

Code event_elapsed(float* milliseconds, Event begin, Event end) {
  const std::lock_guard lock(state().mutex);
  const auto from = find_event(begin);
  const auto to = find_event(end);
  if (!from || !to || from->context != to->context || !from->timed || !to->timed || !from->mark ||
      !to->mark) {
    return invalid_handle;
  }
  if (!from->mark->is_fired() || !to->mark->is_fired()) return device::not_ready;
  constexpr std::int64_t step = timer_step_ns / 2;
  const std::int64_t steps = to->mark->wait() / step - from->mark->wait() / step;
  *milliseconds = static_cast<float>(static_cast<double>(steps * step) * 1e-6);
  return 0;
}

Code submit(Stream handle, std::function<Code()> work) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return vendor.destroyed;
  if (const Code code = use(*stream)) return code;
  if (is_captured(*stream)) return 0;
  push_timed(*stream, std::move(work));
  return 0;
}

Code allocate(Address* made, std::size_t bytes) {
  return allocate(made, bytes, Memory::Device);
}

Code allocate_managed(Address* made, std::size_t bytes) {
  return allocate(made, bytes, Memory::Managed);
}

Code allocate_pinned(void** made, std::size_t bytes, bool coherent) {
  return allocate(made, bytes, Memory::Pinned, nullptr, coherent);
}

Code allocate_async(Address* made, std::size_t bytes, Stream handle) {
  const void* stream = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    const auto found = find(handle);
    if (!found) return invalid_handle;
    if (const Code code = use(*found)) return code;
    is_captured(*found);
    stream = found.get();
  }
  return allocate(made, bytes, Memory::Device, stream);
}

Code free_memory(Address begin) {
  if (begin == 0) return begin_unsafe_call();  // libraries make a context current by it
  const auto block = Blocks::instance().find(static_cast<std::uintptr_t>(begin));
  if (!block || block->begin != begin) return invalid_value;
  if (const Code code = begin_unsafe_call()) return code;
  wait_for_device(block->device);
  return Blocks::instance().free(pointer<void>(begin)) ? 0 : invalid_value;
}

Code free_pinned(void* begin) {
  return free_memory(reinterpret_cast<std::uintptr_t>(begin));
}

Code free_async(Address begin, Stream handle) {
  Blocks& blocks = Blocks::instance();
  const auto block = blocks.find(static_cast<std::uintptr_t>(begin));
  if (!block || block->begin != begin) return invalid_value;
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return vendor.destroyed;
  if (const Code code = use(*stream)) return code;
  if (is_captured(*stream)) return 0;
  blocks.free(pointer<void>(begin), stream.get(), push(*stream, [](std::int64_t&) {}));
  return 0;
}

Code copy(Address to_address, Address from_address, std::size_t bytes, Stream handle) {
  const auto to = static_cast<std::uintptr_t>(to_address);
  const auto from = static_cast<std::uintptr_t>(from_address);
  Blocks& blocks = Blocks::instance();
  if (!blocks.is_valid(to, bytes) || !blocks.is_valid(from, bytes)) return invalid_value;
  Marks done;
  const Context* context = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    const auto stream = find(handle);
    if (!stream) return vendor.destroyed;
    if (const Code code = use(*stream)) return code;
    if (is_captured(*stream)) return 0;
    context = stream->context;
    done.push_back(push_timed(*stream, [=, &blocks] {
      blocks.copy(to, from, bytes);
      return 0;
    }));
  }
  if (blocks.find(to) && blocks.find(from)) return 0;  // the host waits for pageable memory
  wait(done);
  return context->fault;
}

Code fill_bytes(Address address, const void* value, std::size_t size, std::size_t count,
                Stream stream) {
  const auto begin = static_cast<std::uintptr_t>(address);
  Blocks& blocks = Blocks::instance();
  const std::size_t bytes = size * count;
  if (!blocks.find(begin) || !blocks.is_valid(begin, bytes)) return invalid_value;
  const auto* const first = static_cast<const char*>(value);
  return submit(stream, [=, &blocks, pattern = std::vector<char>(first, first + size)] {
    if (count == 1 || !blocks.is_coherent(begin)) {
      std::vector<char> all;
      for (std::size_t i = 0; i < count; ++i) all.insert(all.end(), pattern.begin(), pattern.end());
      blocks.store(begin, all.data(), all.size());
      return 0;
    }
    for (std::size_t i = 0; i < count; ++i) {
      std::memcpy(pointer<char>(begin) + i * size, pattern.data(), size);
    }
    return 0;
  });
}

std::int64_t timer() {
  return device::sim::now() / timer_step_ns * timer_step_ns;
}

}  // namespace dlbench::fake
