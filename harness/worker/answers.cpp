#include "worker/answers.hpp"

namespace dlbench::worker {
namespace {

using nlohmann::json;

template <typename Number>
void put(json& item, const char* key, const std::optional<Number>& value) {
  if (value) item[key] = *value;
}

}  // namespace

json to_json(const Judgement& judgement) {
  const Evidence& evidence = judgement.evidence;
  json answer = {{"outcome", to_string(judgement.outcome)},
                 {"changed", judgement.changed},
                 {"writable", judgement.writable},
                 {"copied_by", judgement.copied_by},
                 {"late_read", judgement.late_read},
                 {"evidence",
                  {{"address", to_string(evidence.address)},
                   {"guard", to_string(evidence.guard)},
                   {"write", to_string(evidence.write)},
                   {"slope", to_string(evidence.slope)}}},
                 {"warnings", judgement.warnings}};
  if (const std::optional<GuardCounts>& guard = judgement.guard) {
    answer["guard"] = {{"pages", guard->pages},
                       {"read", guard->read},
                       {"written", guard->written},
                       {"late", guard->late},
                       {"by", guard->by}};
  }
  return answer;
}

json to_json(const Observation& observed) {
  return {{"used", observed.used},       {"via", observed.via},
          {"calls", observed.calls},     {"struct", observed.struct_name},
          {"version", observed.version}, {"flags", observed.flags}};
}

json to_json(const Ordering& one) {
  json item = {{"stream", one.stream},
               {"requested_by", one.is_own_call ? "consumer" : "dlbench"},
               {"reads_on", one.reads_on}};
  if (!one.expected.empty()) item["expected"] = one.expected;
  if (one.waits) item["waits"] = to_string(*one.waits);
  if (!one.content.empty()) item["content"] = one.content;
  put(item, "transfer_ns", one.transfer_ns);
  put(item, "export_blocked", one.export_blocked);
  put(item, "import_blocked", one.import_blocked);
  put(item, "gap_ns", one.gap_ns);
  put_reason(item, one.reason);
  return item;
}

json to_json(const CaptureFound& found) {
  json item = {{"usable", found.is_usable}, {"capture", json::array()}};
  if (!found.capture) return item;
  const Capture& one = *found.capture;
  json row = {{"stream", one.stream}, {"result", to_string(one.result)}};
  put(row, "nodes", one.nodes);
  put(row, "error", one.error);
  if (!one.at.empty()) row["at"] = one.at;
  if (!one.reason.empty()) row["reason"] = one.reason;
  item["capture"].push_back(std::move(row));
  return item;
}

json to_json(const SyncTrial& trial) {
  return {{"row", to_json(trial.row)}, {"is_hostile", trial.is_hostile}};
}

json to_json(const WorkerFloors& floors) {
  return {{"empty", floors.empty_ns},
          {"clock", floors.clock_ns},
          {"call", floors.call_ns},
          {"proxy", floors.proxy_ns}};
}

json to_json(const measure::Reading& reading, const Disturbance& disturbance) {
  json answer = {{"ns", reading.ns},
                 {"cpu_ns", reading.cpu_ns},
                 {"behind", reading.behind},
                 {"moved", disturbance.moved},
                 {"preempted", disturbance.preempted},
                 {"canary_ns", disturbance.canary_ns}};
  if (reading.empty_ns) {
    answer["empty_ns"] = *reading.empty_ns;
    answer["spent_ns"] = reading.spent_ns;
  }
  return answer;
}

json to_json(const std::vector<FrameNode>& frames) {
  json all = json::array();
  for (const FrameNode& node : frames) {
    all.push_back({{"parent", node.parent}, {"function", node.function}, {"file", node.file}});
  }
  return all;
}

json to_json(const Recording& calls) {
  json all = json::array();
  for (const Request& call : calls) {
    all.push_back({{"phase", call.phase()},
                   {"call", call.spelled},
                   {"raised", call.raised},
                   {"ours", call.ours}});
  }
  return all;
}

json to_json(const PhaseReading& reading, const Disturbance& disturbance) {
  return {{"exchange", reading.exchange_ns},       {"calls", reading.calls_ns},
          {"import", reading.import_ns},           {"release", reading.release_ns},
          {"unexplained", reading.unexplained_ns}, {"canary_ns", disturbance.canary_ns}};
}

json to_json(const Failure& failure) {
  json item = {{"outcome", to_string(failure.outcome)},
               {"exception", failure.exception},
               {"reason", failure.reason}};
  if (!failure.code.empty()) item["code"] = failure.code;
  if (!failure.data.empty()) item["data"] = failure.data;
  return item;
}

}  // namespace dlbench::worker
