#include "device.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>

#include "blocks.hpp"
#include "device/sim.hpp"

namespace dlbench::fake {

namespace {

using device::Memory;

constexpr int most_devices = 16;

struct EventState {
  bool timed;
  /// Of what it was last recorded after; null before.
  std::shared_ptr<Mark> mark;
};

struct Gpu {
  std::vector<std::unique_ptr<HardwareQueue>> queues;
  unsigned streams = 0;
  Context primary;
};

/// All that a process has of its devices, but for the memory. What waits for a device does so
/// without the lock; only a queue that is full is waited for with it, as drivers do.
struct State {
  std::mutex mutex;
  std::array<Gpu, most_devices> gpus;
  std::map<Stream, std::shared_ptr<StreamState>> streams;
  std::map<Event, std::shared_ptr<EventState>> events;
  std::uintptr_t handles = 0xFA4E'0000'0000;

  /// No address of anything, and never given out again: what is destroyed stays unknown.
  void* next_handle() {
    handles += 64;
    return reinterpret_cast<void*>(handles);
  }
};

State& state() {
  // Never destroyed: queues may still work when the process ends.
  static State& only = *std::make_unique<State>().release();
  return only;
}

/// With the lock.
HardwareQueue& next_queue(Gpu& gpu) {
  const auto most = static_cast<unsigned>(mode("DLBENCH_FAKE_QUEUES", 8));
  const unsigned index = most == 0 ? gpu.streams : gpu.streams % most;
  ++gpu.streams;
  while (gpu.queues.size() <= index) gpu.queues.push_back(std::make_unique<HardwareQueue>());
  return *gpu.queues[index];
}

std::shared_ptr<StreamState> make_stream(Context& context, bool blocking) {
  Gpu& gpu = state().gpus.at(static_cast<std::size_t>(context.device));
  return std::make_shared<StreamState>(StreamState{&context, blocking, &next_queue(gpu), nullptr});
}

/// Of this thread in the current context. With the lock.
std::shared_ptr<StreamState> per_thread_stream(Context& context) {
  thread_local std::map<Context*, std::shared_ptr<StreamState>> own;
  std::shared_ptr<StreamState>& found = own[&context];
  if (!found) {
    found = make_stream(context, true);
    context.streams[state().next_handle()] = found;
  }
  return found;
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
  return found == state().streams.end() ? nullptr : found->second;
}

std::shared_ptr<EventState> find_event(Event handle) {
  const auto found = state().events.find(handle);
  return found == state().events.end() ? nullptr : found->second;
}

using Marks = std::vector<std::shared_ptr<Mark>>;

void add(Marks& marks, const std::shared_ptr<Mark>& mark) {
  if (mark && !mark->is_fired()) marks.push_back(mark);
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

/// Puts work on a stream. With the lock.
std::shared_ptr<Mark> push(StreamState& stream, HardwareQueue::Work work) {
  auto mark = std::make_shared<Mark>();
  stream.queue->push(
      [before = implicit_edges(stream), work = std::move(work), mark](std::int64_t& clock) {
        for (const auto& edge : before) clock = std::max(clock, edge->wait());
        work(clock);
        mark->fire(clock);
      });
  stream.last = mark;
  return mark;
}

/// Work that costs its own time.
HardwareQueue::Work timed(std::function<void()> work) {
  return [work = std::move(work)](std::int64_t& clock) {
    const std::int64_t begin = device::sim::now();
    work();
    clock += device::sim::now() - begin;
  };
}

/// All that is pending in a context. With the lock.
Marks pending(const Context& context) {
  Marks found;
  if (context.legacy) add(found, context.legacy->last);
  for (const auto& [handle, stream] : context.streams) add(found, stream->last);
  for (const auto& mark : context.orphans) add(found, mark);
  return found;
}

void wait(const Marks& marks) {
  for (const auto& mark : marks) mark->wait();
}

void wait_for_device(int device) {
  Marks found;
  {
    const std::lock_guard lock(state().mutex);
    found = pending(state().gpus.at(static_cast<std::size_t>(device)).primary);
  }
  wait(found);
}

Code allocate(void** made, std::size_t bytes, Memory kind, const void* stream = nullptr) {
  *made = Blocks::instance().allocate(bytes, kind, current()->device, stream);
  return *made != nullptr ? 0 : out_of_memory;
}

Code allocate(Address* made, std::size_t bytes, Memory kind, const void* stream = nullptr) {
  void* begin = nullptr;
  const Code code = allocate(&begin, bytes, kind, stream);
  *made = reinterpret_cast<std::uintptr_t>(begin);
  return code;
}

}  // namespace

Context& primary(int device) {
  const std::lock_guard lock(state().mutex);
  Context& context = state().gpus.at(static_cast<std::size_t>(device)).primary;
  context.device = device;
  if (!context.legacy) context.legacy = make_stream(context, false);
  return context;
}

std::vector<Context*>& contexts() {
  thread_local std::vector<Context*> stack;
  return stack;
}

Context* current() {
  return contexts().empty() ? nullptr : contexts().back();
}

Code synchronize() {
  Marks found;
  {
    const std::lock_guard lock(state().mutex);
    found = pending(*current());
  }
  wait(found);
  return 0;
}

Code stream_create(Stream* made, unsigned flags) {
  const std::lock_guard lock(state().mutex);
  Context& context = *current();
  *made = state().next_handle();
  state().streams[*made] = context.streams[*made] =
      make_stream(context, (flags & device::non_blocking) == 0);
  return 0;
}

Code stream_destroy(Stream handle) {
  const std::lock_guard lock(state().mutex);
  const auto found = state().streams.find(handle);
  if (found == state().streams.end()) return invalid_handle;
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
  {
    const std::lock_guard lock(state().mutex);
    const auto stream = find(handle);
    if (!stream) return invalid_handle;
    add(last, stream->last);
    // The default stream has no more to do when those that it waits for have.
    if (stream == stream->context->legacy) {
      for (const auto& mark : implicit_edges(*stream)) last.push_back(mark);
    }
  }
  wait(last);
  return 0;
}

Code stream_query(Stream handle) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return invalid_handle;
  return !stream->last || stream->last->is_fired() ? 0 : device::not_ready;
}

Code stream_flags(Stream handle, unsigned* flags) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return invalid_handle;
  *flags = stream->blocking || stream == stream->context->legacy ? 0 : device::non_blocking;
  return 0;
}

Code stream_wait(Stream handle, Event waited, unsigned) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  const auto event = find_event(waited);
  if (!stream || !event) return invalid_handle;
  if (!event->mark) return 0;
  push(*stream,
       [mark = event->mark](std::int64_t& clock) { clock = std::max(clock, mark->wait()); });
  return 0;
}

Code event_create(Event* made, unsigned flags) {
  const std::lock_guard lock(state().mutex);
  *made = state().next_handle();
  state().events[*made] =
      std::make_shared<EventState>(EventState{(flags & device::no_timing) == 0, nullptr});
  return 0;
}

Code event_destroy(Event handle) {
  const std::lock_guard lock(state().mutex);
  return state().events.erase(handle) == 1 ? 0 : invalid_handle;
}

Code event_record(Event handle, Stream on) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(on);
  const auto event = find_event(handle);
  if (!stream || !event) return invalid_handle;
  const int cost = event->timed ? mode("DLBENCH_FAKE_EVENT_NS", 2000) : 0;
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
  return !event->mark || event->mark->is_fired() ? 0 : device::not_ready;
}

Code event_synchronize(Event handle) {
  Marks marks;
  {
    const std::lock_guard lock(state().mutex);
    const auto event = find_event(handle);
    if (!event) return invalid_handle;
    add(marks, event->mark);
  }
  wait(marks);
  return 0;
}

Code event_elapsed(float* milliseconds, Event begin, Event end) {
  const std::lock_guard lock(state().mutex);
  const auto from = find_event(begin);
  const auto to = find_event(end);
  if (!from || !to || !from->timed || !to->timed || !from->mark || !to->mark) {
    return invalid_handle;
  }
  if (!from->mark->is_fired() || !to->mark->is_fired()) return device::not_ready;
  const std::int64_t step = std::max(1, mode("DLBENCH_FAKE_TIMER_NS", 1000) / 2);
  const std::int64_t steps = to->mark->wait() / step - from->mark->wait() / step;
  *milliseconds = static_cast<float>(static_cast<double>(steps * step) * 1e-6);
  return 0;
}

Code submit(Stream handle, std::function<void()> work) {
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return invalid_handle;
  push(*stream, timed(std::move(work)));
  return 0;
}

Code allocate(Address* made, std::size_t bytes) {
  return allocate(made, bytes, Memory::Device);
}

Code allocate_managed(Address* made, std::size_t bytes) {
  return allocate(made, bytes, Memory::Managed);
}

Code allocate_pinned(void** made, std::size_t bytes) {
  return allocate(made, bytes, Memory::Pinned);
}

Code allocate_async(Address* made, std::size_t bytes, Stream handle) {
  const void* stream = nullptr;
  {
    const std::lock_guard lock(state().mutex);
    stream = find(handle).get();
  }
  return stream == nullptr ? invalid_handle : allocate(made, bytes, Memory::Device, stream);
}

Code free_memory(Address begin) {
  const auto block = Blocks::instance().find(pointer<void>(begin));
  if (!block || block->begin != begin) return invalid_value;
  wait_for_device(block->device);
  return Blocks::instance().free(pointer<void>(begin)) ? 0 : invalid_value;
}

Code free_pinned(void* begin) {
  return free_memory(reinterpret_cast<std::uintptr_t>(begin));
}

Code free_async(Address begin, Stream handle) {
  Blocks& blocks = Blocks::instance();
  const auto block = blocks.find(pointer<void>(begin));
  if (!block || block->begin != begin) return invalid_value;
  if (is_poisoned()) return submit(handle, [=, &blocks] { blocks.free(pointer<void>(begin)); });
  const std::lock_guard lock(state().mutex);
  const auto stream = find(handle);
  if (!stream) return invalid_handle;
  blocks.free(pointer<void>(begin), stream.get(), push(*stream, [](std::int64_t&) {}));
  return 0;
}

Code copy(Address to, Address from, std::size_t bytes, Stream stream) {
  return submit(stream, [=] { std::memcpy(pointer<void>(to), pointer<const void>(from), bytes); });
}

std::int64_t timer() {
  const std::int64_t step = std::max(1, mode("DLBENCH_FAKE_TIMER_NS", 1000));
  return device::sim::now() / step * step;
}

}  // namespace dlbench::fake
