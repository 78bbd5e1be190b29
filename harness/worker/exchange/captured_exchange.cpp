#include "worker/exchange/captured_exchange.hpp"

#include <charconv>

#include "worker/exchange/synchronization.hpp"
#include "worker/sync/capture.hpp"
#include "worker/sync/stream_queue.hpp"

namespace dlbench::worker {
namespace {

// "own", "omitted" (null) or a number; empty: None.
Ref argument_of(const std::string& name, const TrialStreams& streams) {
  if (name == "omitted") return {};
  if (name == "own") return streams.own();
  if (name.empty()) return Ref::borrow(Py_None);
  long number = 0;
  std::from_chars(name.data(), name.data() + name.size(), number);
  return checked(PyLong_FromLong(number));
}

std::string name_of(PyObject* argument, const TrialStreams& streams) {
  if (argument == nullptr) return "omitted";
  if (argument == Py_None) return "";
  const int is_own = PyObject_RichCompareBool(argument, streams.own().get(), Py_EQ);
  if (is_own < 0) PyErr_Clear();
  if (is_own == 1) return "own";
  if (!PyLong_Check(argument)) return "other";
  int overflow = 0;
  const long number = PyLong_AsLongAndOverflow(argument, &overflow);
  return overflow == 0 && number >= -1 && number <= 2 ? std::to_string(number) : "other";
}

}  // namespace

CaptureFound capture_exchange(ExchangeCall& call, ProtocolSearch& search, const Order& order,
                              const CaptureOrder& wanted, const Announce& step) {
  const DeviceAt at = device_named(order.exchange.device);
  if (!at || at.table->capture_begin == nullptr) {
    throw Failure{Outcome::unsupported, "", "a capture needs a device of CUDA or ROCm"};
  }
  if (!has_own_stream(call.consumer()) && !can_set_stream(call.consumer())) {
    throw Failure{Outcome::unsupported, "",
                  "the stream of " + order.exchange.consumer + " is unknown, so it cannot capture"};
  }
  step(Step::capture);
  PyObject* const exporter = call.first_exporter();
  const SyncLibraries libraries{
      call.producer(), call.consumer(),      order.exchange,
      order.make_case, call.pool().expected, call.has_exports() ? Ref::borrow(exporter) : Ref()};
  TrialStreams streams(libraries, *at.table);
  if (wanted.is_one_stream) {
    if (!streams.is_filled_here()) return {};
    streams.produce_on_consumers_stream();
  }
  std::optional<SplitExchange> split;
  {
    const OnStream producing = streams.producing();
    const OnStream consuming = streams.consuming(streams.own());
    split.emplace(call.import_call(), exporter, call.shown(), search.record_now(),
                  call.is_proxied());
  }
  const Request* const request = export_call(split->recording());
  Capture found;
  found.is_own_call = wanted.is_own_call;
  found.is_one_stream = wanted.is_one_stream;
  const std::string own = name_of(request == nullptr ? nullptr : stream_of(*request), streams);
  found.stream = wanted.is_own_call ? own : wanted.stream;
  if (!wanted.is_own_call) {
    if (request == nullptr || wanted.stream == own) return {};
    split->set_stream(argument_of(wanted.stream, streams).get());
  }
  StreamQueue on_streams(libraries, *split, streams);
  try_capture(on_streams.queue(), streams.streams(), found);
  return {found, is_usable(streams.streams())};
}

}  // namespace dlbench::worker
