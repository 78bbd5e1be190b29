#include "worker/exchange/synchronization.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <string_view>

#include "sync/classifier.hpp"
#include "sync/late.hpp"
#include "trace/range.hpp"

namespace dlbench::worker {
namespace {

constexpr std::int32_t kDlCpu = 1;
constexpr std::int32_t kDlRocm = 10;
constexpr std::array<std::string_view, 5> kReadsOn{"own", "legacy", "per-thread", "work", "host"};

// The number, or nothing if it is not an int or does not fit into a long.
std::optional<long> number_in(PyObject* value) {
  if (!PyLong_Check(value)) return {};
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(value, &overflow);
  if (overflow != 0) return {};
  return number;
}

bool is_none(const Ref& value) {
  return !value || value.get() == Py_None;
}

bool is_same(const Ref& one, const Ref& other) {
  if (is_none(one) || is_none(other)) return is_none(one) && is_none(other);
  const int same = PyObject_RichCompareBool(one.get(), other.get(), Py_EQ);
  if (same < 0) PyErr_Clear();
  return same == 1;
}

// Numbers below 3 have a special meaning in the protocol; larger numbers are handles of streams.
std::string name_of(const Ref& value, const Passable& passable) {
  if (!value) return "omitted";
  if (is_none(value)) return "";
  if (is_same(value, passable.own)) return "own";
  if (is_same(value, passable.foreign)) return "foreign";
  if (!PyLong_Check(value.get())) return "own";
  const std::optional<long> number = number_in(value.get());
  return number && *number >= -1 && *number <= 2 ? std::to_string(*number) : "other";
}

bool has_read(const Recording& recording, const char* property) {
  return std::any_of(recording.begin(), recording.end(), [&](const Request& request) {
    return request.is(Request::How::property, property) && !request.raised;
  });
}

// A function of the C exchange API, which does not synchronize.
bool has_exchange_api(const Recording& recording) {
  return std::any_of(recording.begin(), recording.end(), [](const Request& call) {
    return call.how == Request::How::managed || call.how == Request::How::borrowed;
  });
}

// Does `__cuda_array_interface__` name the stream that the consumer must wait for? Before version 3
// it has no stream, and None means that no wait is needed.
bool has_stream_in_interface(PyObject* array) {
  try {
    const Ref facts = checked(PyObject_GetAttrString(array, "__cuda_array_interface__"));
    const Ref version = checked(PyMapping_GetItemString(facts.get(), "version"));
    const Ref stream = checked(PyMapping_GetItemString(facts.get(), "stream"));
    return number_in(version.get()).value_or(0) >= 3 && stream.get() != Py_None;
  } catch (const Failure&) {
    return false;
  }
}

// Do producer and consumer share one current stream? A library with itself does, unless its
// consumer file has a stream of its own.
bool is_one_stream(const SyncLibraries& libraries) {
  return &libraries.producer == &libraries.consumer && !has_own_stream(libraries.consumer) &&
         !optional_attribute(libraries.consumer.consumer.get(), "on_stream");
}

// Must the consumer's read on its current stream come after the producer's work? Yes, for any
// `stream` argument except -1, "do not synchronize".
bool requires_order(const Recording& recording, const SyncLibraries& libraries, PyObject* array) {
  if (has_read(recording, "__cuda_array_interface__")) return has_stream_in_interface(array);
  return !is_one_stream(libraries);
}

Ref int_of(long number) {
  return checked(PyLong_FromLong(number));
}

SyncTrial trial_of(std::string stream, Ref value, ReadOn read_on, std::string_view expected) {
  SyncTrial made;
  made.row.stream = std::move(stream);
  made.row.reads_on = kReadsOn[static_cast<std::size_t>(read_on)];
  made.row.expected = expected;
  made.value = std::move(value);
  made.read_on = read_on;
  return made;
}

SyncTrial own_trial(std::string stream, Ref value, ReadOn read_on, bool required) {
  const std::string_view expected = stream == "-1" ? kNoWait : required ? kOrder : "";
  SyncTrial made = trial_of(std::move(stream), std::move(value), read_on, expected);
  made.row.is_own_call = true;
  return made;
}

// Values that a library without a case for them uses as a handle, or that may be refused.
SyncTrial hostile(SyncTrial trial) {
  trial.is_hostile = true;
  return trial;
}

// The values of CUDA, which the simulated device follows, and of ROCm. None is the default of the
// keyword, so an omitted argument means the same.
void add_values_of_streams(std::vector<SyncTrial>& all, const Passable& passable) {
  const bool is_rocm = passable.device == kDlRocm;
  const auto add = [&](std::string name, Ref value, ReadOn read_on, std::string_view expected) {
    return trial_of(std::move(name), std::move(value), read_on, expected);
  };
  all.push_back(add("omitted", {}, ReadOn::legacy, kOrder));
  all.push_back(add("", Ref::borrow(Py_None), ReadOn::legacy, kOrder));
  all.push_back(is_rocm ? add("0", int_of(0), ReadOn::legacy, kOrder)
                        : add("1", int_of(1), ReadOn::legacy, kOrder));
  if (passable.own) all.push_back(add("own", passable.own, ReadOn::own, kOrder));
  all.push_back(trial_of("omitted", {}, ReadOn::host, kOrder));
  if (passable.foreign) all.push_back(hostile(add("foreign", passable.foreign, ReadOn::own, "")));
  if (is_rocm) {
    all.push_back(hostile(add("1", int_of(1), ReadOn::legacy, kRefusal)));
    all.push_back(hostile(add("2", int_of(2), ReadOn::per_thread, kRefusal)));
  } else {
    all.push_back(hostile(add("2", int_of(2), ReadOn::per_thread, kOrder)));
    all.push_back(hostile(add("0", int_of(0), ReadOn::legacy, kRefusal)));
  }
  all.push_back(hostile(add("-1", int_of(-1), ReadOn::own, kNoWait)));
}

// The values on devices where only the producer's library can fill its queue. For the CPU the text
// allows None alone; for SYCL it leaves the meaning open.
void add_values(std::vector<SyncTrial>& all, const Passable& passable) {
  const bool on_cpu = passable.device == kDlCpu;
  const std::string_view expected = on_cpu ? kOrder : "";
  all.push_back(trial_of("omitted", {}, ReadOn::own, expected));
  all.push_back(trial_of("", Ref::borrow(Py_None), ReadOn::own, expected));
  if (!on_cpu) {
    if (passable.own) all.push_back(trial_of("own", passable.own, ReadOn::own, kOrder));
    if (passable.foreign) all.push_back(trial_of("foreign", passable.foreign, ReadOn::own, ""));
  }
  all.push_back(trial_of("-1", int_of(-1), ReadOn::own, on_cpu ? std::string_view() : kNoWait));
}

// Of equal trials the first one stays.
std::vector<SyncTrial> distinct(std::vector<SyncTrial> all) {
  std::vector<SyncTrial> kept;
  for (SyncTrial& trial : all) {
    const bool is_known = std::any_of(kept.begin(), kept.end(), [&](const SyncTrial& other) {
      return other.row.stream == trial.row.stream && other.row.reads_on == trial.row.reads_on;
    });
    if (!is_known) kept.push_back(std::move(trial));
  }
  return kept;
}

std::string word_of(sync::Content content) {
  return content == sync::Content::New ? "new" : "old";
}

Warning reason_of(std::string_view code) {
  return {std::string(code), std::string(codes::sync_text(code))};
}

// An exception of the library or the device becomes the reason of the result.
void classify(Ordering& found, const std::function<sync::Queue()>& make_queue) {
  try {
    const sync::Verdict verdict = sync::classify(make_queue());
    found.waits = verdict.waits;
    if (verdict.content) found.content = word_of(*verdict.content);
    found.transfer_ns = verdict.transfer_ns;
    found.export_blocked = verdict.export_blocked;
    found.import_blocked = verdict.import_blocked;
    found.gap_ns = verdict.gap_ns;
    if (!verdict.reason.empty()) found.reason = reason_of(verdict.reason);
  } catch (const Failure& failure) {
    found.reason = {std::string(codes::kArgumentRefused), message_of(failure),
                    data_of("exception", failure.exception)};
  } catch (const std::exception& error) {
    // Earlier observations are kept.
    found.reason = {std::string(codes::kDeviceFailed), error.what()};
  }
}

// A failure here does not change earlier observations.
std::string_view late_free_of(const sync::Queue& queue) try {
  return sync::late_free(queue).word;
} catch (const Failure&) {
  return sync::LateFree{}.word;
} catch (const std::exception&) {
  return sync::LateFree{}.word;
}

}  // namespace

const Request* export_call(const Recording& recording) {
  for (const Request& call : recording) {
    if (call.is(Request::How::method, "__dlpack__") && !call.raised) return &call;
  }
  return nullptr;
}

Synchronization::Synchronization(ExchangeCall& call, ProtocolSearch& search, const Order& order,
                                 Announce step)
    : step_(std::move(step)),
      libraries_{
          call.producer(),      call.consumer(),
          order.exchange,       Ref::borrow(order.make_case.get()),
          call.pool().expected, call.has_exports() ? Ref::borrow(call.first_exporter()) : Ref()} {
  const std::string& device = libraries_.exchange.device;
  const DeviceAt at = device_named(device);
  if (!at && !has_busy(call.producer())) return;
  step_(Step::sync);
  const auto connect = [&](const Recording& recording) {
    split_.emplace(call.import_call(), call.first_exporter(), call.shown(), recording,
                   call.is_proxied());
  };
  Passable passable;
  try {
    passable.device = read_place(call.first_array(), call.producer()).view.device.type;
  } catch (const Failure&) {
    // The device is unknown, so no other stream is tried.
  }
  if (at) {
    streams_.emplace(libraries_, *at.table);
    {
      const OnStream producing = streams_->producing();
      const OnStream consuming = streams_->consuming(streams_->own());
      recording_ = search.record_now();
      // The consumer may pass another stream in each call, so its requests cannot be replayed.
      is_whole_ = reads_by_snapshot(libraries_.consumer);
      if (is_whole_ && call.is_proxied()) {
        throw Failure{Outcome::unsupported, "",
                      "the stream of " + libraries_.exchange.consumer +
                          " has no name, and the protocol is not its own choice"};
      }
      connect(is_whole_ ? Recording() : recording_);
    }
    on_streams_.emplace(libraries_, *split_, *streams_);
    passable.own = streams_->own();
    passable.foreign = streams_->foreign();
    PyObject* const array = on_streams_->array();
    const Recording on_default = can_set_stream(call.consumer()) && !has_own_stream(call.consumer())
                                     ? record_on_default(search)
                                     : Recording();
    plan_on_streams(passable, on_default, array != nullptr ? array : call.first_array());
  } else {
    connect(search.observed().recording);
    in_library_.emplace(libraries_, *split_,
                        call_for_device(call.producer(), "new_stream", device));
    if (passable.device != kDlCpu) {
      passable.own = call_for_device(call.consumer(), "stream", device);
      passable.foreign = call_for_device(call.consumer(), "new_stream", device);
    }
    const Request* const exported = export_call(split_->recording());
    const Ref value = exported == nullptr ? Ref() : Ref::borrow(stream_of(*exported));
    trials_.push_back(own_trial(name_of(value, passable), value, ReadOn::own, true));
    if (exported != nullptr) add_values(trials_, passable);
  }
  trials_ = distinct(std::move(trials_));
  for (SyncTrial& trial : trials_) trial.row.reason = reason_of(codes::kNotTried);
}

// The consumer's requests while it works on the default stream; none if they cannot be recorded.
Recording Synchronization::record_on_default(ProtocolSearch& search) const try {
  const OnStream producing = streams_->producing();
  const OnStream consuming = streams_->consuming(int_of(0));
  return search.record_now();
} catch (const Failure&) {
  return {};
}

void Synchronization::plan_on_streams(const Passable& passable, const Recording& on_default,
                                      PyObject* array) {
  const Recording& recording = is_whole_ ? recording_ : split_->recording();
  const Request* const exported = export_call(recording);
  if (exported == nullptr) {
    const bool has_api = has_exchange_api(recording);
    // The functions do not synchronize: the consumer launches on the producer's work stream.
    if (has_api) trials_.push_back(own_trial("omitted", {}, ReadOn::work, true));
    const bool required = !has_api && requires_order(recording, libraries_, array);
    trials_.push_back(own_trial("omitted", {}, ReadOn::own, required));
    return;
  }
  const Ref value = Ref::borrow(stream_of(*exported));
  trials_.push_back(own_trial(name_of(value, passable), value, ReadOn::own, true));
  if (const Request* const there = export_call(on_default)) {
    const Ref named = Ref::borrow(stream_of(*there));
    SyncTrial trial = own_trial(name_of(named, passable), named, ReadOn::legacy, true);
    trial.is_current = true;
    trials_.push_back(std::move(trial));
  }
  if (is_whole_) return;
  add_values_of_streams(trials_, passable);
  // A function in place of the method has no `dl_device`.
  if (libraries_.exported)
    std::erase_if(trials_, [](const SyncTrial& one) { return one.read_on == ReadOn::host; });
}

bool Synchronization::is_aliased() {
  return streams_ && !streams_->streams().are_independent();
}

Ordering Synchronization::classify(std::size_t index) {
  const SyncTrial& trial = trials_.at(index);
  Ordering found = trial.row;
  found.reason = {};
  const std::string name = "sync with stream " + (found.stream.empty() ? "None" : found.stream);
  step_(Step::sync);
  const trace::Range range(name, trace::Category::sync, libraries_.exchange.bytes);
  // If the device orders the streams anyway, every exchange appears synchronized.
  if (is_aliased()) {
    found.waits = Waits::inconclusive;
    found.reason = reason_of(codes::kNoConcurrency);
    return found;
  }
  worker::classify(found, [&] { return queue_of(trial); });
  return found;
}

sync::Queue Synchronization::queue_of(const SyncTrial& trial) {
  split_->set_stream(trial.value.get());
  if (!on_streams_) return in_library_->queue();
  on_streams_->read_on(trial.read_on, trial.is_current);
  return on_streams_->queue();
}

bool Synchronization::has_late_free() const {
  return streams_ && streams_->is_filled_here() && !is_whole_ && !trials_.empty();
}

std::string Synchronization::late_free() {
  if (!has_late_free()) return "";
  step_(Step::late_free);
  if (is_aliased()) return std::string(sync::LateFree{}.word);
  // The read that the memory must outlive is the consumer's.
  split_->set_stream(trials_.front().value.get());
  on_streams_->read_on(ReadOn::own);
  return std::string(late_free_of(on_streams_->queue()));
}

}  // namespace dlbench::worker
