#include "worker/sync/capture.hpp"

#include <stdexcept>
#include <utility>

#include "worker/base/py.hpp"

namespace dlbench::worker {
namespace {

// A host wait is likely only if the content is new after each delay, because an exchange may be
// slow.
constexpr sync::Ns kDelays[] = {20'000'000, 80'000'000, 320'000'000};

/// A capture of a stream. The destructor ends it.
class Capturing {
 public:
  Capturing(const device::Table& table, device::Stream stream) : table_(table), stream_(stream) {
    if (const device::Code code = table.capture_begin(stream, device::capture_global)) {
      throw std::runtime_error(device::line(table, "begin of the capture", code));
    }
  }
  Capturing(const Capturing&) = delete;
  Capturing& operator=(const Capturing&) = delete;
  ~Capturing() {
    if (is_open_) end();
    if (graph_ != nullptr) table_.graph_destroy(graph_);
  }

  bool is_invalidated() const {
    int status = device::not_capturing;
    return table_.capture_status(stream_, &status) != 0 || status == device::capture_invalidated;
  }

  device::Code end() {
    is_open_ = false;
    return table_.capture_end(stream_, &graph_);
  }

  std::size_t nodes() const {
    std::size_t count = 0;
    if (const device::Code code = table_.graph_nodes(graph_, nullptr, &count)) {
      throw std::runtime_error(device::line(table_, "nodes of the graph", code));
    }
    return count;
  }

 private:
  const device::Table& table_;
  device::Stream stream_;
  device::Graph graph_ = nullptr;
  bool is_open_ = true;
};

// The exchange inside the capture: what raises or breaks it first.
void exchange(const sync::Queue& queue, const Capturing& capturing, Capture& found) {
  for (const auto& [name, call] :
       {std::pair("export", &queue.export_array), std::pair("import", &queue.import_array)}) {
    try {
      (*call)();
    } catch (const Failure& failure) {
      found.reason = message_of(failure);
    }
    if (found.reason.empty() && !capturing.is_invalidated()) continue;
    found.at = name;
    return;
  }
}

void capture(const sync::Queue& queue, sync::Streams& streams, Capture& found) {
  const device::Table& table = streams.table();
  Capturing capturing(table, streams.consumer());
  exchange(queue, capturing, found);
  if (const device::Code code = capturing.end()) {
    found.result = Captured::invalidated;
    found.error = code;
    if (found.at.empty()) found.at = "end";
    if (found.reason.empty()) found.reason = device::line(table, "end of the capture", code);
    return;
  }
  found.result = found.at.empty() ? Captured::captured : Captured::refused;
  found.nodes = capturing.nodes();
}

// With `delay` 0 the producer has no pending work. Returns whether the producer's work was pending
// before the exchange, and done after it.
bool capture_behind(sync::Ns delay, const sync::Queue& queue, sync::Streams& streams,
                    Capture& found) {
  queue.arm(delay, 0);
  if (delay == 0) streams.settle();
  if (delay != 0 && queue.peek() != sync::Content::Old) {
    found.result = Captured::failed;
    found.reason = "the producer's work was complete before the export began";
    return true;
  }
  found.reason.clear();
  capture(queue, streams, found);
  return delay != 0 && queue.peek() == sync::Content::New;
}

}  // namespace

void try_capture(const sync::Queue& queue, sync::Streams& streams, Capture& found) {
  const auto fail = [&found](std::string reason) {
    found.result = Captured::failed;
    found.nodes.reset();
    found.reason = std::move(reason);
  };
  try {
    if (found.is_one_stream) {
      capture_behind(0, queue, streams, found);
      queue.settle();
      return;
    }
    bool is_done = true;
    for (const sync::Ns delay : kDelays) {
      is_done = capture_behind(delay, queue, streams, found);
      queue.settle();
      const bool is_known =
          found.result == Captured::refused || found.result == Captured::invalidated;
      if (!is_done || is_known) break;
    }
    if (is_done && found.result == Captured::captured) found.result = Captured::host_wait;
  } catch (const Failure& failure) {
    fail(message_of(failure));
  } catch (const std::exception& error) {
    fail(error.what());
  }
}

bool is_usable(sync::Streams& streams) {
  const device::Table& table = streams.table();
  int status = device::capture_invalidated;
  return table.capture_status(streams.consumer(), &status) == 0 &&
         status == device::not_capturing && table.synchronize() == 0;
}

}  // namespace dlbench::worker
