#include "worker/profiling.hpp"

#include <unistd.h>

#include <utility>

#include "trace/capture.hpp"
#include "trace/chrome.hpp"
#include "trace/cupti.hpp"
#include "trace/nvtx.hpp"
#include "trace/recorder.hpp"
#include "trace/roctx.hpp"
#include "worker/known_copies.hpp"

namespace dlbench::worker {
namespace {

using nlohmann::json;
using trace::Category;

// An exchange has some dozens of ranges, which are read after each exchange.
constexpr std::size_t kMostRanges = std::size_t{1} << 16;

constexpr Category kPhaseCategories[] = {Category::query, Category::export_, Category::import_,
                                         Category::release};

std::vector<std::string> cupti_places() {
  const Ref module = checked(PyImport_ImportModule("dlbench.profiling.places"));
  const Ref places = checked(PyObject_CallMethod(module.get(), "cupti", nullptr));
  std::vector<std::string> found;
  for (Py_ssize_t i = 0; i < PyList_Size(places.get()); ++i) {
    found.push_back(text_of(PyList_GetItem(places.get(), i)));
  }
  return found;
}

json by_kind(const trace::ApiCounts& counts) {
  json calls = json::object();
  for (std::size_t i = 0; i < counts.size(); ++i) calls[std::string(kApiKinds[i])] = counts[i];
  return calls;
}

}  // namespace

json begin_trace() {
  const bool nvtx = trace::nvtx::attach();
  const std::string& roctx = trace::roctx::open();
  trace::record_ranges(kMostRanges);
  return {{"nvtx", trace::nvtx::version().empty() ? "not built"
                   : nvtx                         ? "attached"
                                                  : "no tool"},
          {"roctx", roctx.empty() ? "no library" : roctx}};
}

json profile(Prepared& prepared, std::uint64_t times, const std::string& process) {
  const std::uint64_t bytes = prepared.bytes;
  std::string whole;
  {
    const trace::Capture capture;
    const trace::Range cell(prepared.label, Category::cell, bytes);
    for (std::uint64_t i = 0; i < times; ++i) {
      whole = prepared.phases.walk([&](Category part, const std::function<void()>& itself) {
        const trace::Range range(trace::name_of(part), part, bytes);
        itself();
      });
    }
  }
  return {{"trace", trace::chrome_trace(trace::drain_recording(), {::getpid(), process})},
          {"whole", whole}};
}

// The first exchange under CUPTI may load code, so the second one is counted.
json api_calls(Prepared& prepared, const Order& order, const Library& producer) {
  const trace::ApiTrace::Opened opened = trace::ApiTrace::open(cupti_places());
  if (!opened.trace) return {{"why_not", opened.why_not}};
  trace::ApiTrace& trace = *opened.trace;
  std::string why = find_unobserved_copy(trace, order.exchange);
  if (why.empty()) why = find_unobserved_calls(trace, order.exchange, producer, order.make_case);
  if (!why.empty()) return {{"why_not", std::move(why)}};
  std::string whole;
  for (int pass = 0; pass < 2; ++pass) {
    trace.clear();
    whole = prepared.phases.walk([&](Category part, const std::function<void()>& itself) {
      const trace::ApiTrace::Span span(trace, part);
      itself();
    });
  }
  json phases = json::object();
  if (whole.empty()) {
    for (const Category phase : kPhaseCategories) {
      phases[std::string(trace::name_of(phase))] = by_kind(trace.counted(phase));
    }
  }
  return {{"calls", by_kind(trace.counted(Category::exchange))},
          {"phases", phases},
          {"library", trace.library()}};
}

}  // namespace dlbench::worker
