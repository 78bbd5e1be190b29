#include "sync/planted.hpp"

#include "device/sim.hpp"
#include "sync/streams.hpp"

namespace dlbench::sync {
namespace {

constexpr Words kWords{};
constexpr unsigned kOther = 3;

Content content_of(unsigned word) {
  if (word == kWords.before) return Content::Old;
  return word == kWords.after ? Content::New : Content::Other;
}

}  // namespace

std::string_view truth(Kind kind) {
  constexpr std::array<std::string_view, kKinds.size()> truths{
      "none", "stream", "host", "wrong-stream", "host-wrong", "late", "safe", "safe"};
  return truths[static_cast<std::size_t>(kind)];
}

struct Planted::State {
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  explicit State(Kind planted) : kind(planted), streams(device::sim::table(), true) {
    for (device::Address& slot : slots) streams.table().allocate(&slot, 64);
  }
  ~State() {
    for (const device::Address slot : slots) streams.table().free(slot);
  }

  device::Address word() const { return slots[0]; }

  void export_array() {
    switch (kind) {
      case Kind::Event:
      case Kind::Late:
      case Kind::Deferred:
      case Kind::Waiting:
        return streams.order(streams.producer(), streams.consumer());
      case Kind::Host:
        return streams.synchronize(streams.producer());
      case Kind::Wrong:
        return streams.order(streams.unrelated_stream(), streams.consumer());
      case Kind::HostWrong:
        return streams.synchronize(streams.unrelated_stream());
      case Kind::Nothing:
        return;
    }
  }

  void slow_read(Ns delay) {
    for (const device::Address slot : slots) streams.store(slot, kWords.after);
    freed = false;
    reading = true;
    export_array();
    streams.slow_read(word(), delay);
  }

  Content read() {
    if (!reading) return content_of(streams.read(word()));
    reading = false;
    return content_of(streams.fetch());
  }

  void drop() {
    if (kind == Kind::Deferred) streams.order(streams.consumer(), streams.producer());
    if (kind == Kind::Waiting) streams.synchronize(streams.consumer());
    freed = true;
  }

  bool reuse() {
    streams.table().fill32(slots[freed ? 0 : 1], kOther, 1, streams.producer());
    return freed;
  }

  Kind kind;
  Streams streams;
  std::array<device::Address, 2> slots{};
  bool freed = false;
  bool reading = false;
};

Planted::Planted(Kind kind) : state_(std::make_unique<State>(kind)) {
  State& state = *state_;
  queue_.arm = [&state](Ns delay, Ns decoy) {
    state.streams.arm(state.word(), kWords, delay, decoy);
  };
  queue_.peek = [&state] { return content_of(state.streams.peek(state.word())); };
  queue_.export_array = [&state] { state.export_array(); };
  queue_.import_array = [] {};
  queue_.read = [&state] { return state.read(); };
  queue_.settle = [&state] { state.streams.settle(); };
  queue_.is_independent = [&state](Ns delay) {
    return state.streams.is_independent(state.word(), kWords, delay);
  };
  queue_.decoy = [&state] { return state.streams.decoy(); };
  queue_.delayed = [&state] { return state.streams.delayed(); };
  queue_.gap = [&state] { return state.streams.gap(); };
  queue_.slow_read = [&state](Ns delay) { state.slow_read(delay); };
  queue_.drop = [&state] { state.drop(); };
  queue_.reuse = [&state] { return state.reuse(); };
  queue_.overwrite = [&state] { state.streams.store_as_producer(state.word(), kOther); };
}

Planted::~Planted() = default;

void Planted::set(Kind kind) {
  state_->kind = kind;
}

}  // namespace dlbench::sync
