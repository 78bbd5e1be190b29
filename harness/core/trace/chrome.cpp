#include "trace/chrome.hpp"

#include <algorithm>
#include <fstream>
#include <numeric>
#include <set>
#include <tuple>

namespace dlbench::trace {
namespace {

using Json = nlohmann::ordered_json;

double microseconds(std::int64_t ns) {
  return static_cast<double>(ns) / 1000;
}

/// The events sorted by thread, each range before those inside it. Of two ranges with the same
/// times, the outer one ended last.
std::vector<const Event*> outer_first(const std::vector<Event>& events) {
  std::vector<const Event*> ordered;
  for (auto event = events.rbegin(); event != events.rend(); ++event) ordered.push_back(&*event);
  std::stable_sort(ordered.begin(), ordered.end(), [](const Event* a, const Event* b) {
    return std::tuple(a->thread, a->begin_ns, -a->end_ns) <
           std::tuple(b->thread, b->begin_ns, -b->end_ns);
  });
  return ordered;
}

Json metadata(const char* what, std::int64_t process, std::int64_t thread,
              const std::string& name) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", {{"name", name}}}};
}

std::string thread_name(std::int64_t thread) {
  std::string name;
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/comm");
  return std::getline(file, name) && !name.empty() ? name : "thread " + std::to_string(thread);
}

}  // namespace

Json chrome_trace(const Recording& recording, const Process& process) {
  Json events = Json::array();
  events.push_back(metadata("process_name", process.id, process.id, process.name));
  std::set<std::int64_t> threads;
  const Event* cell = nullptr;
  for (const Event* event : outer_first(recording.events)) {
    if (threads.insert(event->thread).second) {
      events.push_back(
          metadata("thread_name", process.id, event->thread, thread_name(event->thread)));
    }
    if (event->name->category() == Category::cell) cell = event;
    const bool inside =
        cell != nullptr && cell->thread == event->thread && event->begin_ns <= cell->end_ns;
    Json args = {{"bytes", event->bytes}};
    if (inside) args["cell"] = cell->name->text();
    events.push_back({{"name", event->name->text()},
                      {"cat", name_of(event->name->category())},
                      {"ph", "X"},
                      {"ts", microseconds(event->begin_ns)},
                      {"dur", microseconds(event->end_ns - event->begin_ns)},
                      {"pid", process.id},
                      {"tid", event->thread},
                      {"args", std::move(args)}});
  }
  return {{"traceEvents", std::move(events)},
          {"displayTimeUnit", "ns"},
          {"otherData", {{"lost", recording.lost}}}};
}

}  // namespace dlbench::trace
