#include "worker/exchange/synchronization.hpp"

#include <algorithm>
#include <optional>
#include <string_view>

#include "sync/classifier.hpp"
#include "sync/late.hpp"
#include "trace/range.hpp"
#include "worker/sync/library_queue.hpp"
#include "worker/sync/stream_queue.hpp"

namespace dlbench::worker {
namespace {

constexpr std::int32_t kDlCpu = 1;
constexpr std::int32_t kDlCuda = 2;

/// A value of the argument `stream` and its name.
struct Variant {
  std::string name;
  Ref value;                 ///< empty: the argument is omitted
  bool is_own_call = false;  ///< the consumer passes it
  bool required = false;
};

/// Other streams that could be passed.
struct Passable {
  Ref own, foreign;
  std::int32_t device = kDlCpu;
};

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
  if (is_none(value)) return "";
  if (is_same(value, passable.own)) return "own";
  if (is_same(value, passable.foreign)) return "foreign";
  if (!PyLong_Check(value.get())) return "own";
  const std::optional<long> number = number_in(value.get());
  return number && *number >= -1 && *number <= 2 ? std::to_string(*number) : "other";
}

bool has_request(const Recording& recording, std::string_view name) {
  return std::any_of(recording.begin(), recording.end(),
                     [&](const Request& call) { return call.spelled == name && !call.raised; });
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
bool requires_order(const Variant& own_call, const Recording& recording,
                    const SyncLibraries& libraries, PyObject* array) {
  if (export_call(recording) != nullptr) return own_call.required;
  if (has_request(recording, "__cuda_array_interface__")) return has_stream_in_interface(array);
  return !is_one_stream(libraries);
}

std::vector<Variant> variants(const Recording& recording, const Passable& passable) {
  const Request* const call = export_call(recording);
  Variant own_call{"", call == nullptr ? Ref() : Ref::borrow(stream_of(*call)), true, true};
  own_call.name = name_of(own_call.value, passable);
  // With -1 the consumer requests no order.
  own_call.required = own_call.name != "-1";
  std::vector<Variant> all{std::move(own_call)};
  if (call == nullptr) return all;
  const bool on_cpu = passable.device == kDlCpu;
  std::vector<Variant> others;
  others.push_back({"", {}, false, on_cpu});
  others.push_back({"-1", checked(PyLong_FromLong(-1)), false, false});
  if (!on_cpu) {
    if (passable.own) others.push_back({"own", passable.own, false, true});
    if (passable.foreign) others.push_back({"foreign", passable.foreign, false, false});
  }
  if (passable.device == kDlCuda) {
    others.push_back({"1", checked(PyLong_FromLong(1)), false, false});
    others.push_back({"2", checked(PyLong_FromLong(2)), false, false});
  }
  for (Variant& other : others) {
    const bool known = std::any_of(all.begin(), all.end(),
                                   [&](const Variant& one) { return one.name == other.name; });
    if (!known) all.push_back(std::move(other));
  }
  return all;
}

std::string word_of(sync::Content content) {
  return content == sync::Content::New ? "new" : "old";
}

Ordering begin_ordering(const Variant& variant) {
  Ordering found;
  found.stream = variant.name;
  found.is_own_call = variant.is_own_call;
  found.required = variant.required;
  return found;
}

Warning reason_of(std::string_view code) {
  return {std::string(code), std::string(codes::sync_text(code))};
}

// If the device orders the streams anyway, every exchange appears synchronized.
Ordering without_independence(const Variant& variant) {
  Ordering found = begin_ordering(variant);
  found.waits = Waits::inconclusive;
  found.reason = reason_of(codes::kNoConcurrency);
  return found;
}

// An exception of the library or the device becomes the reason of the result.
Ordering classify_variant(const Variant& variant, const sync::Queue& queue) {
  Ordering found = begin_ordering(variant);
  try {
    const sync::Verdict verdict = sync::classify(queue);
    found.waits = verdict.waits;
    if (verdict.content) found.content = word_of(*verdict.content);
    found.transfer_ns = verdict.transfer_ns;
    found.export_blocked = verdict.export_blocked;
    found.import_blocked = verdict.import_blocked;
    found.gap_ns = verdict.gap_ns;
    if (!verdict.reason.empty()) found.reason = reason_of(verdict.reason);
  } catch (const Failure& failure) {
    std::string text = failure.exception;
    if (!failure.reason.empty()) text += (text.empty() ? "" : ": ") + failure.reason;
    if (text.empty()) text = "the call was refused without a message";
    found.reason = {std::string(codes::kArgumentRefused), text,
                    data_of("exception", failure.exception)};
  } catch (const std::exception& error) {
    // Earlier observations are kept.
    found.reason = {std::string(codes::kDeviceFailed), error.what()};
  }
  return found;
}

// A failure here does not change earlier observations.
std::string_view late_free_of(const sync::Queue& queue) try {
  return sync::late_free(queue).word;
} catch (const Failure&) {
  return sync::LateFree{}.word;
} catch (const std::exception&) {
  return sync::LateFree{}.word;
}

std::string race_of(const std::vector<Ordering>& sync, const Exchange& exchange) {
  for (const Ordering& one : sync) {
    if (!one.is_own_call || !one.required || !one.waits || !is_unordered(*one.waits)) continue;
    const std::string how = *one.waits == Waits::none ? "nothing waited"
                            : *one.waits == Waits::wrong_stream
                                ? "a stream waited for another stream"
                                : "the host waited for another stream";
    return exchange.consumer + " read old content before " + exchange.producer +
           "'s work was done: " + how;
  }
  return "";
}

}  // namespace

const Request* export_call(const Recording& recording) {
  for (const Request& call : recording) {
    if (call.spelled.starts_with("__dlpack__(") && !call.raised) return &call;
  }
  return nullptr;
}

SynchronizationFound classify_synchronization(ExchangeCall& call, ProtocolSearch& search,
                                              const Order& order, const Step& step) {
  const std::string& device = order.exchange.device;
  const DeviceAt at = device_named(device);
  PyObject* const exporter = call.first_exporter();
  const SyncLibraries libraries{
      call.producer(), call.consumer(),      order.exchange,
      order.make_case, call.pool().expected, call.has_exports() ? Ref::borrow(exporter) : Ref()};
  SynchronizationFound found;
  if (!at && !has_busy(call.producer())) return found;
  step("sync");
  std::optional<TrialStreams> streams;
  std::optional<SplitExchange> split;
  std::optional<StreamQueue> on_streams;
  std::optional<LibraryQueue> in_library;
  const auto connect = [&](const Recording& recording) {
    split.emplace(call.import_call(), exporter, call.shown(), recording, call.is_proxied());
  };
  Passable passable;
  try {
    passable.device = read_place(call.first_array(), call.producer()).view.device.type;
  } catch (const Failure&) {
    // The device is unknown, so no other stream is tried.
  }
  sync::Queue queue;
  if (at) {
    streams.emplace(libraries, *at.table);
    {
      const OnStream producing = streams->producing();
      const OnStream consuming = streams->consuming();
      connect(search.record_now());
    }
    on_streams.emplace(libraries, *split, *streams);
    queue = on_streams->queue();
    passable.own = streams->own();
    passable.foreign = streams->foreign();
  } else {
    connect(search.observed().recording);
    in_library.emplace(libraries, *split, call_for_device(call.producer(), "new_stream", device));
    queue = in_library->queue();
    if (passable.device != kDlCpu) {
      passable.own = call_for_device(call.consumer(), "stream", device);
      passable.foreign = call_for_device(call.consumer(), "new_stream", device);
    }
  }
  std::vector<Variant> variants_tried = variants(split->recording(), passable);
  if (on_streams) {
    PyObject* const array = on_streams->array();
    variants_tried[0].required = requires_order(variants_tried[0], split->recording(), libraries,
                                                array != nullptr ? array : call.first_array());
  }
  const bool is_aliased = streams && !streams->streams().are_independent();
  for (const Variant& variant : variants_tried) {
    const trace::Range range("sync " + variant.name, trace::Category::sync, order.exchange.bytes);
    if (is_aliased) {
      found.sync.push_back(without_independence(variant));
      continue;
    }
    if (!variant.is_own_call) split->set_stream(variant.value.get());
    found.sync.push_back(classify_variant(variant, queue));
  }
  if (queue.slow_read) {
    step("late free");
    // The producer may refuse the last variant's stream.
    if (variants_tried.size() > 1) split->set_stream(variants_tried[0].value.get());
    found.late_free = is_aliased ? sync::LateFree{}.word : late_free_of(queue);
  }
  found.race = race_of(found.sync, order.exchange);
  return found;
}

}  // namespace dlbench::worker
