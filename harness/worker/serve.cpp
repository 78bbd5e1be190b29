#include "worker/serve.hpp"

#include <unistd.h>

#include <optional>

#include "exchange/guard/heap.hpp"
#include "model/build.hpp"
#include "trace/nvtx.hpp"
#include "worker/answers.hpp"
#include "worker/base/py.hpp"
#include "worker/base/spent.hpp"
#include "worker/lines.hpp"
#include "worker/requests.hpp"

namespace dlbench::worker {
namespace {

using nlohmann::json;

json greeting() {
  const std::string python = text_of(PySys_GetObject("version"));
  return {{"hello",
           {{"build", build_id()},
            {"python", python.substr(0, python.find(' '))},
            {"gil", had_gil_at_start()},
            {"pid", ::getpid()}}}};
}

// Opens a range for an attached tool around the whole request, so that the range is not part of the
// timed code.
json in_range(Requests& requests, const std::string& verb, const json& request) {
  // `profile` opens its own ranges.
  if (verb == "profile" || !trace::is_open()) return requests.answer(verb, request);
  const std::string library = request.value("library", "");
  const trace::Range range(library.empty() ? verb : verb + " " + library, trace::Category::worker);
  const Prepared* const prepared = verb == "drop" ? nullptr : requests.find(request);
  if (prepared == nullptr) return requests.answer(verb, request);
  const trace::Range cell(prepared->label, trace::Category::cell, prepared->bytes);
  return requests.answer(verb, request);
}

json reply_to(Requests& requests, const std::string& verb, const json& request) {
  try {
    return {{"ok", in_range(requests, verb, request)}};
  } catch (const Failure& failure) {
    return {{"error", to_json(failure)}};
  } catch (const std::exception& error) {
    return {{"error", to_json(Failure{Outcome::refused, "", error.what()})}};
  }
}

}  // namespace

void serve(int in, int out) {
  Lines lines(in, out);
  const auto send = [&lines](const json& message) {
    // ASCII only, because `debug` prints these lines to a terminal.
    lines.write(message.dump(-1, ' ', true, json::error_handler_t::replace));
  };
  Requests requests([&send](Step step) { send({{"step", to_string(step)}}); });
  trace::nvtx::attach();
  exchange::raise_heap_thresholds();
  send(greeting());
  while (const std::optional<std::string> line = lines.next()) {
    if (line->empty()) continue;
    const json request = json::parse(*line);
    const std::string& verb = request.at("do").get_ref<const std::string&>();
    if (verb == "end") return;
    Spent::drain();
    json reply = reply_to(requests, verb, request);
    const Spent::Seconds spent = Spent::drain();
    reply["spent_s"] = {{"library", spent.library}, {"timing", spent.timing}};
    send(reply);
  }
}

}  // namespace dlbench::worker
