#include "device/characterize.hpp"

#include <stdexcept>
#include <string_view>

#include "device/owners.hpp"

namespace dlbench::device {

namespace {

void check(const Table& table, std::string_view called, Code code) {
  if (code != 0) throw std::runtime_error(line(table, called, code));
}

OwnStream make_stream(const Table& table) {
  OwnStream made(table);
  check(table, "creating a stream", made.create(non_blocking));
  return made;
}

OwnEvent make_event(const Table& table) {
  OwnEvent made(table);
  check(table, "creating an event", made.create(0U));
  return made;
}

/// The stamps of a delay: two readings of the device's timer, in ns.
struct Stamp {
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

/// Stamps in pinned memory, which the device writes and the host reads.
class Stamps {
 public:
  Stamps(const Table& table, std::size_t count) : memory_(table) {
    check(table, "allocating pinned memory", memory_.create(count * sizeof(Stamp)));
    for (std::size_t i = 0; i < count; ++i) at(i) = {};
  }

  Stamp& at(std::size_t index) { return static_cast<Stamp*>(memory_.get())[index]; }
  Address address(std::size_t index) { return reinterpret_cast<std::uintptr_t>(&at(index)); }

 private:
  OwnPinned memory_;
};

void put_delay(const Table& table, Stream stream, std::int64_t ns, Address stamps) {
  check(table, "launching a delay", table.delay(stream, ns, stamps, 0, 0));
}

void wait_for(const Table& table, Stream stream) {
  check(table, "waiting for a stream", table.stream_synchronize(stream));
}

/// Waits for streams in its destructor, also after an exception, because a running delay would
/// write to freed stamps.
class Settled {
 public:
  Settled(const Table& table, Stream busy, std::span<const Stream> streams)
      : table_(table), busy_(busy), streams_(streams) {}
  Settled(const Settled&) = delete;
  Settled& operator=(const Settled&) = delete;
  ~Settled() {
    for (const Stream stream : streams_) table_.stream_synchronize(stream);
    table_.stream_synchronize(busy_);
  }

 private:
  const Table& table_;
  Stream busy_;
  std::span<const Stream> streams_;
};

}  // namespace

std::vector<std::int64_t> measure_timer_steps(const Table& table, unsigned count) {
  Stamps stamps(table, count);
  const OwnStream stream = make_stream(table);
  // A delay of 1 ns reads the timer until its value changes.
  for (unsigned i = 0; i < count; ++i) put_delay(table, stream.get(), 1, stamps.address(i));
  wait_for(table, stream.get());
  std::vector<std::int64_t> steps;
  for (unsigned i = 0; i < count; ++i) steps.push_back(stamps.at(i).end - stamps.at(i).begin);
  return steps;
}

std::vector<double> measure_empty_events(const Table& table, unsigned count, std::int64_t hold_ns) {
  const OwnStream stream = make_stream(table);
  std::vector<OwnEvent> events;
  for (unsigned i = 0; i < 2 * count; ++i) events.push_back(make_event(table));
  // The first use of an event or of the delay may load code.
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

StreamOrder order_behind(const Table& table, Stream busy, std::span<const Stream> streams,
                         std::int64_t delay_ns) {
  const OwnEvent end = make_event(table);
  // One for each stream, then one for the busy stream.
  Stamps stamps(table, streams.size() + 1);
  const Settled settled(table, busy, streams);
  // Use two delays: in a shared hardware queue the second one waits for the first and then blocks
  // later work of other streams. A single delay does not block it.
  put_delay(table, busy, delay_ns, 0);
  put_delay(table, busy, delay_ns, stamps.address(streams.size()));
  check(table, "recording an event", table.event_record(end.get(), busy));
  for (std::size_t i = 0; i < streams.size(); ++i) {
    put_delay(table, streams[i], 0, stamps.address(i));
  }
  StreamOrder order;
  order.was_busy = table.event_query(end.get()) == not_ready;
  for (const Stream stream : streams) wait_for(table, stream);
  wait_for(table, busy);
  const std::int64_t ended = stamps.at(streams.size()).end;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    const bool ran_beside = stamps.at(i).begin < ended;
    order.ran_beside.push_back(ran_beside);
    if (streams[i] == busy) order.was_ordered_on_itself = !ran_beside;
  }
  return order;
}

std::vector<StreamOrder> order_streams(const Table& table, unsigned streams,
                                       std::int64_t delay_ns) {
  std::vector<OwnStream> own;
  for (unsigned i = 1; i < streams; ++i) own.push_back(make_stream(table));
  std::vector<Stream> all{nullptr};
  for (const OwnStream& stream : own) all.push_back(stream.get());
  for (const Stream stream : all) put_delay(table, stream, 0, 0);
  check(table, "waiting for the device", table.synchronize());

  std::vector<StreamOrder> found;
  for (const Stream busy : all) found.push_back(order_behind(table, busy, all, delay_ns));
  return found;
}

}  // namespace dlbench::device
