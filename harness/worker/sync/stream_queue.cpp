#include "worker/sync/stream_queue.hpp"

#include <algorithm>
#include <cstring>
#include <optional>

#include "exchange/layout.hpp"
#include "worker/arrays/read.hpp"
#include "worker/library/capsule.hpp"
#include "worker/library/exchange_api.hpp"

namespace dlbench::worker {

using sync::Content;

namespace {

// CUDA's and HIP's default streams. The per-thread one is a special handle.
constexpr device::Stream kLegacy = nullptr;
const device::Stream kPerThread = reinterpret_cast<device::Stream>(std::uintptr_t{2});
constexpr unsigned kOther = 0x7f800001;  // a NaN as a float32, so part of no case
constexpr unsigned kOne = 0x3f800000;    // 1 as a float32
constexpr sync::Ns kLibraryDelay = 20'000'000;
// Attempts to find a stream that runs concurrently with a library's own.
constexpr int kMostTries = 8;
constexpr int kMostNext = 4;  // arrays that are made until one reuses the memory of an earlier one

// The host can read the memory of the simulated device only.
bool is_host_memory(const device::Table& table) {
  return table.name == "sim";
}

device::Stream stream_in(const Ref& number) {
  void* const stream = PyLong_AsVoidPtr(number.get());
  if (PyErr_Occurred() != nullptr) throw fetch_failure();
  return stream;
}

Ref handle(device::Stream stream) {
  return checked(PyLong_FromVoidPtr(stream));
}

// The stream that the consumer's adapter names; empty if its current stream can be set. Throws
// Failure if neither is possible.
Ref own_stream(const SyncLibraries& libraries) {
  if (!can_set_stream(libraries.producer) && !has_compute_from(libraries.producer) &&
      !has_busy(libraries.producer)) {
    throw Failure{Outcome::unsupported, "",
                  "the adapter of " + libraries.exchange.producer +
                      " has neither `on_stream` nor `compute_from` nor `busy`"};
  }
  if (has_own_stream(libraries.consumer)) {
    return call_for_device(libraries.consumer, "stream", libraries.exchange.device);
  }
  if (can_set_stream(libraries.consumer) || reads_by_snapshot(libraries.consumer)) return {};
  throw Failure{
      Outcome::unsupported, "",
      "the adapter of " + libraries.exchange.consumer + " has no `on_stream` and no `snapshot`"};
}

// The legacy default stream has two handles.
device::Stream one_handle(device::Stream stream) {
  return stream == reinterpret_cast<device::Stream>(std::uintptr_t{1}) ? kLegacy : stream;
}

// If another stream were current than the one that the trials name, the exchange would order that
// other one, and its honest result would be called a race. Throws Failure.
void require_on_stream(const SyncLibraries& libraries, const std::string& name,
                       const Library& library, Ref Library::*role, const Ref& stream) {
  const std::string& device = libraries.exchange.device;
  const Ref file = file_with_on_stream(library, role);
  if (!stream || !file || !optional_attribute(file.get(), "stream")) return;
  const OnStream inside(library, role, device, stream);
  const Ref current = checked(PyObject_CallMethod(file.get(), "stream", "s", device.c_str()));
  if (one_handle(stream_in(current)) == one_handle(stream_in(stream))) return;
  const auto text = [](const Ref& number) {
    return text_of(checked(PyObject_Str(number.get())).get());
  };
  throw Failure{Outcome::unsupported, "",
                "in the adapter of " + name + ", `on_stream` was called with stream " +
                    text(stream) + ", and then `stream` returned " + text(current)};
}

std::optional<device::Stream> stream_of(const Ref& number) {
  return number ? std::optional(stream_in(number)) : std::nullopt;
}

}  // namespace

TrialStreams::TrialStreams(const SyncLibraries& libraries, const device::Table& table)
    : libraries_(libraries),
      place_(find_last_nonzero(libraries.expected->view)),
      consumer_(own_stream(libraries)),
      streams_(table, is_host_memory(table), stream_of(consumer_)) {
  if (place_.bytes.size() != sizeof(unsigned)) {
    throw Failure{Outcome::unsupported, "",
                  "synchronization can be tested only with elements of four bytes"};
  }
  words_.before = 0;
  std::memcpy(&words_.after, place_.bytes.data(), sizeof words_.after);
  if (is_filled_here()) {
    producer_ = handle(streams_.producer());
  } else {
    if (has_compute_from(libraries.producer)) source_ = make_source();
    find_concurrent_with_library();
  }
  if (!consumer_) consumer_ = handle(streams_.consumer());
  streams_.use_default_as_unrelated_stream();
  require_on_stream(libraries_, libraries_.exchange.producer, libraries_.producer,
                    &Library::producer, producer_);
  if (has_own_stream(libraries_.consumer)) return;
  for (const Ref& stream : {own(), handle(kLegacy)}) {
    require_on_stream(libraries_, libraries_.exchange.consumer, libraries_.consumer,
                      &Library::consumer, stream);
  }
}

// The handle of a stream that only the library fills is unknown, so observe while it is busy
// whether another stream runs concurrently. If none does, the trials observe the same and do not
// count.
void TrialStreams::find_concurrent_with_library() {
  for (int i = 0; i < kMostTries; ++i) {
    const BusyArray busy = make_busy(kLibraryDelay);
    const device::Address word = busy.address + place_.offset;
    const bool is_observed = content(streams_.peek(word)) == Content::Old;
    const bool is_read = is_observed && content(streams_.read(word)) == Content::Old;
    wait_for(libraries_.producer, busy.array);
    streams_.settle();
    if (is_read || (is_observed && consumer_)) return;
    if (is_observed) {
      streams_.replace_consumer();
    } else {
      streams_.replace_streams();
    }
  }
}

TrialStreams::Source TrialStreams::make_source() const {
  const Ref native = checked(PyImport_ImportModule("dlbench._native_producer"));
  const Ref spec = checked(PyObject_CallNoArgs(libraries_.make_case.get()));
  const Ref values = checked(PyObject_CallMethod(spec.get(), "numpy", nullptr));
  const char* const device = libraries_.exchange.device.c_str();
  Source made;
  made.array =
      checked(PyObject_CallMethod(native.get(), "DeviceArray", "Os", values.get(), device));
  const Ref address = checked(PyObject_GetAttrString(made.array.get(), "address"));
  made.word = PyLong_AsUnsignedLongLong(address.get()) + place_.offset;
  made.stream = stream_in(checked(PyObject_CallMethod(native.get(), "stream", "s", device)));
  return made;
}

// The library imports a source that is still behind the delay. The new content differs in each
// call, because the library may reuse memory that holds the content of an earlier one.
BusyArray TrialStreams::make_busy(sync::Ns delay) {
  if (!source_) return worker::make_busy(libraries_, {}, delay);
  words_.after = std::max(words_.after + 1, kOne);
  streams_.arm(source_->word, words_, delay, 0);
  streams_.order(streams_.producer(), source_->stream);
  return compute_from(libraries_, source_->array);
}

Content TrialStreams::content(unsigned word) const {
  if (word == words_.after) return Content::New;
  return source_ || word == words_.before ? Content::Old : Content::Other;
}

OnStream TrialStreams::producing() const {
  return {libraries_.producer, &Library::producer, libraries_.exchange.device, producer_};
}

OnStream TrialStreams::consuming(const Ref& stream) const {
  return {libraries_.consumer, &Library::consumer, libraries_.exchange.device,
          has_own_stream(libraries_.consumer) ? Ref() : Ref::borrow(stream.get())};
}

Ref TrialStreams::foreign() const {
  return streams_.has_unrelated_stream() ? handle(streams_.unrelated_stream()) : Ref();
}

StreamQueue::StreamQueue(const SyncLibraries& libraries, SplitExchange& split,
                         TrialStreams& streams)
    : libraries_(libraries),
      split_(split),
      trial_(streams),
      streams_(streams.streams()),
      place_(find_last_nonzero(libraries.expected->view)),
      consuming_(streams.own()) {
  if (!trial_.is_filled_here()) return;
  array_ = make();
  word_ = word_of(array_);
}

// The stream that the producer's exchange API names while its stream is the current one.
device::Stream StreamQueue::work_stream() {
  const Ref array = array_ ? Ref::borrow(array_.get()) : make();
  const DLPackExchangeAPI* const api = exchange_api_of(Py_TYPE(array.get()));
  if (api == nullptr || api->current_work_stream == nullptr) {
    throw Failure{Outcome::refused, "", "the producer's current_work_stream is NULL"};
  }
  const exchange::Device where = read_place(array.get(), libraries_.producer).view.device;
  const OnStream inside = trial_.producing();
  void* stream = nullptr;
  if (api->current_work_stream(static_cast<DLDeviceType>(where.type), where.id, &stream) != 0) {
    throw fetch_failure();
  }
  return stream;
}

void StreamQueue::read_on(ReadOn where, bool is_current) {
  std::optional<device::Stream> stream;
  if (where == ReadOn::legacy) stream = kLegacy;
  if (where == ReadOn::per_thread) stream = kPerThread;
  if (where == ReadOn::work) stream = work_stream();
  where_ = where;
  consuming_ = is_current && stream ? handle(*stream) : trial_.own();
  streams_.read_on(stream);
}

Ref StreamQueue::make() const {
  const OnStream inside = trial_.producing();
  return make_array(libraries_.exchange, libraries_.producer, libraries_.make_case);
}

device::Address StreamQueue::word_of(const Ref& array) const {
  return read_place(array.get(), libraries_.producer).view.address + place_.offset;
}

// The address that the consumer reads, which differs from the source if the consumer copied. Only
// `address` is called, because an export of the result would order the queues.
device::Address StreamQueue::result_word() const {
  const Ref address = libraries_.consumer.function("address");
  if (!address) return word_;
  const Ref found = checked(PyObject_CallOneArg(address.get(), result_.get()));
  if (found.get() == Py_None) return word_;
  const unsigned long long first = PyLong_AsUnsignedLongLong(found.get());
  if (PyErr_Occurred() != nullptr) throw fetch_failure();
  return first + place_.offset;
}

unsigned StreamQueue::word_on_host() const {
  const exchange::View view = view_of_capsule(result_.get());
  if (!exchange::on_host(view.device)) {
    throw Failure{Outcome::refused, "", "dl_device=(1, 0) exported memory of another device"};
  }
  unsigned word = 0;
  std::memcpy(&word, reinterpret_cast<const void*>(view.address + place_.offset), sizeof word);
  return word;
}

void StreamQueue::begin() {
  if (!array_) {
    array_ = next_.empty() ? make() : std::move(next_.back());
    next_.clear();
    word_ = word_of(array_);
  }
  split_.begin(array_.get());
}

void StreamQueue::arm(sync::Ns delay, sync::Ns decoy) {
  if (trial_.is_filled_here()) {
    begin();
    streams_.arm(word_, trial_.words(), delay, decoy);
    return;
  }
  busy_ = trial_.make_busy(delay);
  word_ = busy_.address + place_.offset;
  split_.begin(busy_.shown());
  // Call this last: the library's work to fill its stream must not wait for the unrelated streams.
  streams_.hold_unrelated_streams(decoy);
}

void StreamQueue::export_array() {
  const OnStream inside = trial_.producing();
  split_.export_array();
}

// The producer's stream stays current: without a stream argument it is the one to wait for.
void StreamQueue::import_array() {
  const OnStream producing = trial_.producing();
  const OnStream consuming = trial_.consuming(consuming_);
  result_ = split_.import_array();
}

// Instead of the exchange: no stream, and the content is complete on return.
void StreamQueue::export_to_host() {
  split_.end();  // its scope replaces the method
  const OnStream inside = trial_.producing();
  const Ref method = checked(PyObject_GetAttrString(shown(), "__dlpack__"));
  const Ref none = checked(PyTuple_New(0));
  const Ref keywords = checked(Py_BuildValue("{s(ii)s(ii)}", "dl_device", kDLCPU, 0, "max_version",
                                             1, DLPACK_MINOR_VERSION));
  result_ = checked(PyObject_Call(method.get(), none.get(), keywords.get()));
}

bool StreamQueue::is_independent(sync::Ns delay) {
  arm(delay, 0);
  return trial_.content(streams_.read(word_)) == Content::Old;
}

// Of arrays that share the memory of one that dlbench fills: an unordered snapshot must see the old
// content.
bool StreamQueue::is_snapshot_independent(sync::Ns delay) {
  PyObject* const filled = trial_.source() != nullptr ? trial_.source() : array_.get();
  const device::Address word = trial_.source() != nullptr ? trial_.source_word() : word_;
  if (!probe_) {
    split_.begin(filled);
    probe_ = split_.import_array();
    split_.end();
  }
  streams_.arm(word, trial_.words(), delay, 0);
  return read_snapshot(probe_) == Content::Old;
}

// The consumer makes the copy on its own stream. Reading its values may wait.
Content StreamQueue::read_snapshot(const Ref& result) {
  const Ref snapshot = libraries_.consumer.function("snapshot");
  const Ref copy = checked(PyObject_CallOneArg(snapshot.get(), result.get()));
  wait_for(libraries_.consumer, copy);
  const Held values = read_values(copy.get(), libraries_.consumer);
  unsigned word = 0;
  std::memcpy(&word, reinterpret_cast<const char*>(values.view.address) + place_.offset,
              sizeof word);
  return trial_.content(word);
}

Content StreamQueue::read() {
  if (reads_by_snapshot(libraries_.consumer)) return read_snapshot(result_);
  const unsigned word = reading_ ? streams_.fetch() : streams_.read(result_word());
  reading_ = false;
  return trial_.content(word);
}

void StreamQueue::slow_read(sync::Ns delay) {
  begin();
  streams_.store(word_, trial_.words().after);
  export_array();
  import_array();
  streams_.slow_read(result_word(), delay);
  reading_ = true;
}

void StreamQueue::drop() {
  const OnStream inside = trial_.producing();
  result_ = {};
  array_ = {};
}

// Waits for the producer's stream alone, because a wait for the device would include the slow read.
bool StreamQueue::reuse() {
  const OnStream inside = trial_.producing();
  for (int i = 0; i < kMostNext; ++i) {
    next_.push_back(
        make_pending_array(libraries_.exchange, libraries_.producer, libraries_.make_case));
    const device::Address word = word_of(next_.back());
    streams_.store_as_producer(word, kOther);
    if (word == word_) return true;
  }
  return false;
}

void StreamQueue::settle() {
  split_.end();
  try {
    wait_for(libraries_.producer, busy_.array);
  } catch (const Failure&) {
    // Called while cleaning up, so a failure is ignored.
  }
  streams_.settle();
  result_ = {};
  busy_ = {};
}

sync::Queue StreamQueue::queue() {
  sync::Queue made;
  made.arm = [this](sync::Ns delay, sync::Ns decoy) { arm(delay, decoy); };
  made.peek = [this] { return trial_.content(streams_.peek(word_)); };
  made.export_array = [this] { export_array(); };
  made.import_array = [this] { import_array(); };
  made.read = [this] { return read(); };
  made.settle = [this] { settle(); };
  if (where_ == ReadOn::host) {
    made.export_array = [this] { export_to_host(); };
    made.import_array = [] {};
    made.read = [this] { return trial_.content(word_on_host()); };
    return made;
  }
  // A read on the work stream is ordered after the producer's work, which is its purpose.
  const bool by_snapshot = reads_by_snapshot(libraries_.consumer);
  if (where_ != ReadOn::work) {
    made.is_independent = [this, by_snapshot](sync::Ns delay) {
      return by_snapshot ? is_snapshot_independent(delay) : is_independent(delay);
    };
  }
  // Reading the values of a snapshot may wait for the unrelated streams too.
  if (streams_.has_unrelated_stream() && !by_snapshot)
    made.decoy = [this] { return streams_.decoy(); };
  if (!trial_.is_filled_here()) return made;
  made.delayed = [this] { return streams_.delayed(); };
  if (by_snapshot) return made;
  made.gap = [this] { return streams_.gap(); };
  made.slow_read = [this](sync::Ns delay) { slow_read(delay); };
  made.drop = [this] { drop(); };
  made.reuse = [this] { return reuse(); };
  made.overwrite = [this] { streams_.store_as_producer(word_, kOther); };
  return made;
}

}  // namespace dlbench::worker
