#include "worker/stream_queue.hpp"

#include <cstring>
#include <tuple>

namespace dlbench::worker {

using sync::Content;

namespace {

constexpr unsigned kOther = 0x7f800001;  // as a float32 no number, so in no case

// Libraries work on the device's streams, not through its memory; only the simulated one's is ours.
bool is_host_memory(const device::Table& table) {
  return table.name == "sim";
}

}  // namespace

StreamQueue::StreamQueue(const Ends& ends, Handing& handing, const device::Table& table)
    : ends_(ends),
      handing_(handing),
      streams_(table, is_host_memory(table)),
      producer_stream_(handle(streams_.producer())),
      consumer_stream_(handle(streams_.consumer())),
      place_(telling_place(ends.expected->view)) {
  streams_.take_default_for_bystander();
  if (place_.bytes.size() != sizeof(unsigned)) {
    throw Failure{Outcome::unsupported, "", "who waits is looked at in words of four bytes"};
  }
  require_streams();
  words_.before = 0;
  std::memcpy(&words_.after, place_.bytes.data(), sizeof words_.after);
  array_ = make();
  word_ = word_of(array_);
}

// A consumer's file with a `stream` and nothing to change it: its calls name that one, and there it
// reads.
void StreamQueue::require_streams() {
  if (has_own_stream(ends_.consumer)) {
    consumer_stream_ = asked_for_device(ends_.consumer, "stream", ends_.exchange.device);
    streams_.set_consumer(static_cast<device::Stream>(PyLong_AsVoidPtr(consumer_stream_.get())));
    if (PyErr_Occurred() != nullptr) throw fetch_failure();
  }
  for (const auto& [library, name, is_fixed] :
       {std::tuple(&ends_.producer, &ends_.exchange.producer, false),
        std::tuple(&ends_.consumer, &ends_.exchange.consumer, has_own_stream(ends_.consumer))}) {
    if (is_fixed || library->function("on_stream")) continue;
    throw Failure{Outcome::unsupported, "", "the adapter of " + *name + " has no `on_stream`"};
  }
}

StreamQueue::~StreamQueue() {
  handing_.end();
}

Ref StreamQueue::handle(device::Stream stream) {
  return checked(PyLong_FromVoidPtr(stream));
}

Ref StreamQueue::make() const {
  const OnStream inside(ends_.producer, &Library::producer, ends_.exchange.device,
                        producer_stream_);
  return make_array(ends_.exchange, ends_.producer, ends_.make_case);
}

device::Address StreamQueue::word_of(const Ref& array) const {
  return read_place(array.get(), ends_.producer).view.address + place_.offset;
}

// Where the consumer reads: elsewhere, if it copied. Asked of `address` alone, since an export of
// the result would order queues.
device::Address StreamQueue::result_word() const {
  const Ref address = ends_.consumer.function("address");
  if (!address) return word_;
  const Ref found = checked(PyObject_CallOneArg(address.get(), result_.get()));
  if (found.get() == Py_None) return word_;
  const unsigned long long first = PyLong_AsUnsignedLongLong(found.get());
  if (PyErr_Occurred() != nullptr) throw fetch_failure();
  return first + place_.offset;
}

void StreamQueue::begin() {
  if (!array_) {
    array_ = next_ ? std::move(next_) : make();
    word_ = word_of(array_);
  }
  handing_.begin(array_.get());
}

void StreamQueue::give() {
  const OnStream inside(ends_.producer, &Library::producer, ends_.exchange.device,
                        producer_stream_);
  handing_.give();
}

// The producer still works on its stream: where the exchange asks for no stream, that is the one
// that the consumer has to order itself after.
void StreamQueue::take() {
  const OnStream producing(ends_.producer, &Library::producer, ends_.exchange.device,
                           producer_stream_);
  const OnStream inside(ends_.consumer, &Library::consumer, ends_.exchange.device,
                        has_own_stream(ends_.consumer) ? Ref() : own());
  result_ = handing_.take();
}

Content StreamQueue::content(unsigned word) const {
  if (word == words_.before) return Content::Old;
  return word == words_.after ? Content::New : Content::Other;
}

void StreamQueue::drop() {
  const OnStream inside(ends_.producer, &Library::producer, ends_.exchange.device,
                        producer_stream_);
  result_ = {};
  array_ = {};
}

bool StreamQueue::reuse() {
  next_ = make();
  const device::Address word = word_of(next_);
  streams_.table().fill32(word, kOther, 1, streams_.producer());
  return word == word_;
}

sync::Queue StreamQueue::queue() {
  sync::Queue made;
  made.arm = [this](sync::Ns delay, sync::Ns decoy) {
    begin();
    streams_.arm(word_, words_, delay, decoy);
  };
  made.peek = [this] { return content(streams_.peek(word_)); };
  made.give = [this] { give(); };
  made.take = [this] { take(); };
  made.read = [this] {
    const unsigned word = reading_ ? streams_.fetch() : streams_.read(result_word());
    reading_ = false;
    return content(word);
  };
  made.settle = [this] {
    handing_.end();
    streams_.settle();
    result_ = {};
  };
  made.control = [this] { return content(streams_.control(word_)); };
  made.decoy = [this] { return streams_.decoy(); };
  made.delayed = [this] { return streams_.delayed(); };
  made.gap = [this] { return streams_.gap(); };
  made.slow_read = [this](sync::Ns delay) {
    begin();
    streams_.store(word_, words_.after);
    give();
    take();
    streams_.slow_read(result_word(), delay);
    reading_ = true;
  };
  made.drop = [this] { drop(); };
  made.reuse = [this] { return reuse(); };
  made.overwrite = [this] { streams_.store(word_, kOther); };
  return made;
}

}  // namespace dlbench::worker
