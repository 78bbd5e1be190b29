#include "device/characterize.hpp"

#include <stdexcept>
#include <string_view>
#include <utility>

namespace dlbench::device {

namespace {

void check(const Table& table, std::string_view called, Code code) {
  if (code != 0) throw std::runtime_error(line(table, called, code));
}

class OwnStream {
 public:
  explicit OwnStream(const Table& table) : table_(table) {
    check(table, "creating a stream", table.stream_create(&stream_, non_blocking));
  }
  ~OwnStream() {
    if (stream_ == nullptr) return;
    table_.stream_synchronize(stream_);
    table_.stream_destroy(stream_);
  }
  OwnStream(OwnStream&& other) noexcept : table_(other.table_), stream_(other.stream_) {
    other.stream_ = nullptr;
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  OwnStream& operator=(OwnStream&&) = delete;

  Stream get() const { return stream_; }

 private:
  const Table& table_;
  Stream stream_ = nullptr;
};

class OwnEvent {
 public:
  explicit OwnEvent(const Table& table) : table_(table) {
    check(table, "creating an event", table.event_create(&event_, 0));
  }
  ~OwnEvent() {
    if (event_ != nullptr) table_.event_destroy(event_);
  }
  OwnEvent(OwnEvent&& other) noexcept : table_(other.table_), event_(other.event_) {
    other.event_ = nullptr;
  }
  OwnEvent(const OwnEvent&) = delete;
  OwnEvent& operator=(const OwnEvent&) = delete;
  OwnEvent& operator=(OwnEvent&&) = delete;

  Event get() const { return event_; }

 private:
  const Table& table_;
  Event event_ = nullptr;
};

/// What a delay writes: two readings of the device's timer, in ns.
struct Stamp {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Stamps in pinned memory, which the device writes and the host reads.
class Stamps {
 public:
  Stamps(const Table& table, std::size_t count) : table_(table) {
    check(table, "allocating pinned memory",
          table.allocate_pinned(&memory_, count * sizeof(Stamp)));
    for (std::size_t i = 0; i < count; ++i) at(i) = {};
  }
  ~Stamps() {
    if (memory_ != nullptr) table_.free_pinned(memory_);
  }
  Stamps(const Stamps&) = delete;
  Stamps& operator=(const Stamps&) = delete;

  Stamp& at(std::size_t index) { return static_cast<Stamp*>(memory_)[index]; }
  Address address(std::size_t index) { return reinterpret_cast<std::uintptr_t>(&at(index)); }

 private:
  const Table& table_;
  void* memory_ = nullptr;
};

void put_delay(const Table& table, Stream stream, std::int64_t ns, Address stamps) {
  check(table, "launching a delay", table.delay(stream, ns, stamps, 0, 0));
}

void wait_for(const Table& table, Stream stream) {
  check(table, "waiting for a stream", table.stream_synchronize(stream));
}

}  // namespace

std::vector<std::int64_t> measure_timer_steps(const Table& table, unsigned count) {
  Stamps stamps(table, count);
  const OwnStream stream(table);
  // A delay of 1 ns reads the timer until it shows another time.
  for (unsigned i = 0; i < count; ++i) put_delay(table, stream.get(), 1, stamps.address(i));
  wait_for(table, stream.get());
  std::vector<std::int64_t> steps;
  for (unsigned i = 0; i < count; ++i) steps.push_back(stamps.at(i).end - stamps.at(i).begin);
  return steps;
}

std::vector<double> measure_empty_events(const Table& table, unsigned count, std::int64_t hold_ns) {
  const OwnStream stream(table);
  std::vector<OwnEvent> events;
  for (unsigned i = 0; i < 2 * count; ++i) events.emplace_back(table);
  // The first use of an event or of the delay may load something.
  put_delay(table, stream.get(), 1, 0);
  for (const OwnEvent& event : events) {
    check(table, "recording an event", table.event_record(event.get(), stream.get()));
  }
  wait_for(table, stream.get());
  if (hold_ns > 0) put_delay(table, stream.get(), hold_ns, 0);
  for (const OwnEvent& event : events) {
    check(table, "recording an event", table.event_record(event.get(), stream.get()));
  }
  if (hold_ns > 0 && table.event_query(events.front().get()) != not_ready) {
    throw std::runtime_error("the delay ended before the host had recorded all events");
  }
  wait_for(table, stream.get());
  std::vector<double> times;
  for (unsigned i = 0; i < count; ++i) {
    float milliseconds = 0;
    check(table, "timing two events",
          table.event_elapsed(&milliseconds, events[2 * i].get(), events[2 * i + 1].get()));
    times.push_back(1e6 * static_cast<double>(milliseconds));
  }
  return times;
}

std::vector<StreamOrder> order_streams(const Table& table, unsigned streams,
                                       std::int64_t delay_ns) {
  std::vector<OwnStream> own;
  for (unsigned i = 1; i < streams; ++i) own.emplace_back(table);
  std::vector<Stream> all{nullptr};
  for (const OwnStream& stream : own) all.push_back(stream.get());
  const OwnEvent end(table);
  // One for each stream, then the busy stream's.
  Stamps stamps(table, streams + 1);
  for (unsigned i = 0; i < streams; ++i) put_delay(table, all[i], 0, stamps.address(i));
  check(table, "waiting for the device", table.synchronize());

  std::vector<StreamOrder> found;
  for (const Stream busy : all) {
    // Two delays: in a hardware queue that two streams share, the second delay waits for the
    // first one, and what stands behind it waits too. One delay alone would let it pass.
    put_delay(table, busy, delay_ns, 0);
    put_delay(table, busy, delay_ns, stamps.address(streams));
    check(table, "recording an event", table.event_record(end.get(), busy));
    for (unsigned i = 0; i < streams; ++i) put_delay(table, all[i], 0, stamps.address(i));
    StreamOrder order;
    order.was_busy = table.event_query(end.get()) == not_ready;
    check(table, "waiting for the device", table.synchronize());
    const std::int64_t ended = stamps.at(streams).end;
    for (unsigned i = 0; i < streams; ++i) {
      const bool beside = stamps.at(i).begin < ended;
      order.ran_beside.push_back(beside);
      if (all[i] == busy) order.was_ordered_on_itself = !beside;
    }
    found.push_back(std::move(order));
  }
  return found;
}

}  // namespace dlbench::device
