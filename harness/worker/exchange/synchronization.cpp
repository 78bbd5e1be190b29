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

/// A value for `stream`, and what it is called.
struct Variant {
  std::string name;
  Ref value;                 ///< empty: none is passed
  bool is_own_call = false;  ///< the consumer itself passes it
  bool required = false;
};

/// The streams that a consumer could pass besides the one it passes.
struct Passable {
  Ref own, foreign;
  std::int32_t device = kDlCpu;
};

// None where it is no int, or does not fit into a long.
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

// Numbers below 3 have a meaning of their own; what is above is a stream's handle.
std::string name_of(const Ref& value, const Passable& passable) {
  if (is_none(value)) return "";
  if (is_same(value, passable.own)) return "own";
  if (is_same(value, passable.foreign)) return "foreign";
  if (!PyLong_Check(value.get())) return "own";
  const std::optional<long> number = number_in(value.get());
  return number && *number >= -1 && *number <= 2 ? std::to_string(*number) : "other";
}

// What passes no `__dlpack__` has no stream argument either.
const Asked* export_call(const Recording& recording) {
  for (const Asked& call : recording) {
    if (call.spelled.starts_with("__dlpack__(") && !call.raised) return &call;
  }
  return nullptr;
}

bool asks_for(const Recording& recording, std::string_view name) {
  return std::any_of(recording.begin(), recording.end(),
                     [&](const Asked& call) { return call.spelled == name && !call.raised; });
}

// Does `__cuda_array_interface__` name the stream that its consumer must wait for? Before version 3
// it cannot, and None means that no wait is needed.
bool names_stream(PyObject* array) {
  try {
    const Ref facts = checked(PyObject_GetAttrString(array, "__cuda_array_interface__"));
    const Ref version = checked(PyMapping_GetItemString(facts.get(), "version"));
    const Ref stream = checked(PyMapping_GetItemString(facts.get(), "stream"));
    return number_in(version.get()).value_or(0) >= 3 && stream.get() != Py_None;
  } catch (const Failure&) {
    return false;
  }
}

// One library has one current stream, unless its two files keep one each.
bool is_one_stream(const Ends& ends) {
  return &ends.producer == &ends.consumer && !has_own_stream(ends.consumer) &&
         !optional_attribute(ends.consumer.consumer.get(), "on_stream");
}

// The consumer's own call on a device with streams, with a read on its current one: whatever stream
// it names, the read must come after the producer's work, unless it passes "do not synchronize".
bool requires_order(const Variant& asked, const Recording& recording, const Ends& ends,
                    PyObject* array) {
  if (export_call(recording) != nullptr) return asked.required;
  if (asks_for(recording, "__cuda_array_interface__")) return names_stream(array);
  return !is_one_stream(ends);
}

std::vector<Variant> variants(const Recording& recording, const Passable& passable) {
  const Asked* const call = export_call(recording);
  Variant asked{"", call == nullptr ? Ref() : Ref::borrow(stream_of(*call)), true, true};
  asked.name = name_of(asked.value, passable);
  // With -1 the consumer requests no order.
  asked.required = asked.name != "-1";
  std::vector<Variant> all{std::move(asked)};
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

// Where streams run one behind another by chance, every exchange appears synchronized.
Ordering without_independence(const Variant& variant) {
  Ordering found = begin_ordering(variant);
  found.waits = Waits::inconclusive;
  found.reason = reason_of(codes::kNoConcurrency);
  return found;
}

// An exception of the library is a result; an error that ends the run is not.
Ordering look_at(const Variant& variant, const sync::Queue& queue) {
  Ordering found = begin_ordering(variant);
  try {
    const sync::Verdict verdict = sync::classify(queue);
    found.waits = verdict.waits;
    if (verdict.saw) found.saw = word_of(*verdict.saw);
    found.transfer_ns = verdict.transfer_ns;
    found.export_blocked = verdict.export_blocked;
    found.import_blocked = verdict.import_blocked;
    found.gap_ns = verdict.gap_ns;
    if (!verdict.reason.empty()) found.reason = reason_of(verdict.reason);
  } catch (const Failure& failure) {
    std::string text = failure.exception;
    if (!failure.reason.empty()) text += (text.empty() ? "" : ": ") + failure.reason;
    if (text.empty()) text = "it was refused";
    found.reason = {std::string(codes::kArgumentRefused), text,
                    data_of("exception", failure.exception)};
  } catch (const std::exception& error) {
    // What was seen before it is kept.
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
    return exchange.consumer + " read old content before the work of " + exchange.producer +
           " was done: " + how;
  }
  return "";
}

}  // namespace

SynchronizationFound classify_synchronization(ExchangeCall& call, ProtocolSearch& search,
                                              const Order& order, const Step& step) {
  const std::string& device = order.exchange.device;
  const DeviceAt at = device_named(device);
  PyObject* const exporter = call.first_exporter();
  const Ends ends{call.producer(),      call.consumer(),
                  order.exchange,       order.make_case,
                  call.pool().expected, call.has_exports() ? Ref::borrow(exporter) : Ref()};
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
    // Then it is nothing that a stream could be passed for.
  }
  sync::Queue queue;
  if (at) {
    streams.emplace(ends, *at.table);
    {
      const OnStream producing = streams->producing();
      const OnStream consuming = streams->consuming();
      connect(search.record_now());
    }
    on_streams.emplace(ends, *split, *streams);
    queue = on_streams->queue();
    passable.own = streams->own();
    passable.foreign = streams->foreign();
  } else {
    connect(search.observed().recording);
    in_library.emplace(ends, *split, asked_for_device(call.producer(), "new_stream", device));
    queue = in_library->queue();
    if (passable.device != kDlCpu) {
      passable.own = asked_for_device(call.consumer(), "stream", device);
      passable.foreign = asked_for_device(call.consumer(), "new_stream", device);
    }
  }
  std::vector<Variant> variants_tried = variants(split->recording(), passable);
  if (on_streams) {
    PyObject* const array = on_streams->array();
    variants_tried[0].required = requires_order(variants_tried[0], split->recording(), ends,
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
    found.sync.push_back(look_at(variant, queue));
  }
  if (queue.slow_read) {
    step("late free");
    // The last variant's stream may be one that the producer refuses.
    if (variants_tried.size() > 1) split->set_stream(variants_tried[0].value.get());
    found.late_free = is_aliased ? sync::LateFree{}.word : late_free_of(queue);
  }
  found.race = race_of(found.sync, order.exchange);
  return found;
}

}  // namespace dlbench::worker
