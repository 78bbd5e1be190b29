#include "sync/streams.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>

#include "device/characterize.hpp"

namespace dlbench::sync {

using device::Address;
using device::Stream;

namespace {

constexpr Stream kDefaultStream = nullptr;
constexpr Ns kProbeDelay = 3'000'000;
constexpr int kMostStreams = 12;  // streams that are tried to find one that runs concurrently

}  // namespace

Streams::Streams(const device::Table& table, bool host_memory, std::optional<Stream> consumer)
    : table_(table), host_memory_(host_memory), event_(table), pinned_(table) {
  check(event_.create(device::no_timing), "an event");
  check(pinned_.create(sizeof(Shared)), "pinned memory");
  shared_ = static_cast<Shared*>(pinned_.get());
  *shared_ = {};
  if (consumer) {
    consumer_ = *consumer;
    are_independent_ = find_concurrent(producer_, {consumer_, kDefaultStream}) ||
                       find_concurrent(producer_, {consumer_});
  } else {
    // Include the default stream, if possible, because it is read on, and an unrelated stream.
    find_concurrent(producer_, {kDefaultStream});
    are_independent_ = find_concurrent(consumer_, {producer_, kDefaultStream}) ||
                       find_concurrent(consumer_, {producer_});
  }
  // An export may make the default stream wait for the producer's, and then streams that share its
  // queue also wait.
  are_independent_ =
      find_concurrent(ours_, {producer_, consumer_, kDefaultStream}) && are_independent_;
  has_unrelated_stream_ = find_concurrent(unrelated_stream_, {producer_, consumer_, ours_});
}

Stream Streams::create() {
  device::OwnStream& made = made_.emplace_back(table_);
  check(made.create(device::non_blocking), "a stream");
  return made.get();
}

// Later work on `other` that begins before the delay ends proves concurrency. The opposite may be
// chance, because the delay may end while the thread is preempted, so try a longer delay then.
bool Streams::runs_concurrently(Stream other, Stream busy) {
  for (const Ns delay : {kProbeDelay, 4 * kProbeDelay}) {
    const device::StreamOrder order = device::order_behind(table_, busy, std::array{other}, delay);
    if (order.ran_beside.front()) return true;
  }
  return false;
}

// If no stream runs concurrently with all others, `found` is the last one that was tried.
bool Streams::find_concurrent(Stream& found, std::initializer_list<Stream> others) {
  for (int i = 0; i < kMostStreams; ++i) {
    found = create();
    const bool is_concurrent = std::all_of(others.begin(), others.end(), [&](Stream other) {
      return runs_concurrently(found, other);
    });
    if (is_concurrent) return true;
  }
  return false;
}

void Streams::replace_streams() {
  find_concurrent(ours_, {consumer_, kDefaultStream, ours_});
  has_unrelated_stream_ = find_concurrent(unrelated_stream_, {consumer_, ours_});
}

void Streams::replace_consumer() {
  find_concurrent(consumer_, {ours_, kDefaultStream, consumer_});
  has_unrelated_stream_ = find_concurrent(unrelated_stream_, {consumer_, ours_});
}

void Streams::use_default_as_unrelated_stream() {
  is_default_ours_ = runs_concurrently(consumer_, kDefaultStream);
}

void Streams::check(device::Code code, const char* what) const {
  if (code == 0) return;
  throw std::runtime_error(std::string(table_.name) + " on " + what + ": " +
                           table_.error_name(code));
}

Address Streams::address(const void* host) const {
  return reinterpret_cast<std::uintptr_t>(host);
}

void Streams::copy(Address word, unsigned& to, Stream stream) {
  check(table_.copy(address(&to), word, sizeof to, stream), "a copy");
  synchronize(stream);
}

void Streams::synchronize(Stream stream) {
  check(table_.stream_synchronize(stream), "waiting for a stream");
}

void Streams::settle() {
  for (Stream stream : {producer_, consumer_, unrelated_stream_, ours_}) synchronize(stream);
  if (is_default_ours_) synchronize(kDefaultStream);
}

void Streams::store(Address word, unsigned value) {
  check(table_.fill32(word, value, 1, ours_), "a store");
  synchronize(ours_);
}

void Streams::store_as_producer(Address word, unsigned value) {
  check(table_.fill32(word, value, 1, producer_), "a store");
  synchronize(producer_);
}

void Streams::arm(Address word, const Words& words, Ns delay, Ns decoy) {
  settle();
  store(word, words.before);
  hold_unrelated_streams(decoy);
  check(table_.delay(producer_, delay, address(&shared_->stamps[kBegin]), word, words.after),
        "a delay");
}

void Streams::hold_unrelated_streams(Ns decoy) {
  if (decoy == 0) return;
  put_decoy(unrelated_stream_, decoy, kDecoy);
  if (has_decoy_on_default()) put_decoy(kDefaultStream, decoy, kDefault);
}

void Streams::put_decoy(Stream stream, Ns delay, Stamp stamp) {
  __atomic_store_n(&shared_->stamps[stamp + 1], 0, __ATOMIC_RELEASE);
  check(table_.delay(stream, delay, address(&shared_->stamps[stamp]), 0, 0), "a delay");
}

// Uses the delay's own stamp, because a stream may report to be busy although later work has begun.
bool Streams::lasts(Stamp end) const {
  return __atomic_load_n(&shared_->stamps[end], __ATOMIC_ACQUIRE) == 0;
}

unsigned Streams::peek(Address word) {
  if (host_memory_) {
    return __atomic_load_n(reinterpret_cast<const unsigned*>(word), __ATOMIC_ACQUIRE);
  }
  copy(word, shared_->observed[0], ours_);
  return shared_->observed[0];
}

unsigned Streams::read(Address word) {
  check(table_.delay(reader(), 0, address(&shared_->stamps[kRead]), 0, 0), "a stamp");
  copy(word, shared_->observed[1], reader());
  return shared_->observed[1];
}

bool Streams::is_independent(Address word, const Words& words, Ns delay) {
  arm(word, words, delay, 0);
  // An export may record an event on this stream, so record one after the delay, as in the trial.
  check(table_.event_record(event_.get(), producer_), "recording an event");
  return read(word) == words.before;
}

bool Streams::decoy() const {
  return lasts(kDecoyEnd) && (!has_decoy_on_default() || lasts(kDefaultEnd));
}

std::optional<double> Streams::delayed() const {
  return static_cast<double>(shared_->stamps[kEnd] - shared_->stamps[kBegin]);
}

std::optional<double> Streams::gap() const {
  return static_cast<double>(shared_->stamps[kRead] - shared_->stamps[kEnd]);
}

void Streams::slow_read(Address word, Ns delay) {
  check(table_.delay(consumer_, delay, 0, 0, 0), "a delay");
  check(table_.copy(address(&shared_->observed[1]), word, sizeof(unsigned), consumer_), "a copy");
}

unsigned Streams::fetch() {
  synchronize(consumer_);
  return shared_->observed[1];
}

void Streams::order(Stream first, Stream then) {
  check(table_.event_record(event_.get(), first), "recording an event");
  check(table_.stream_wait(then, event_.get(), 0), "waiting for an event");
}

}  // namespace dlbench::sync
