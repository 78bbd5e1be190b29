#include <utility>

#include "fleet/group_run.hpp"
#include "fleet/numbers.hpp"
#include "model/places.hpp"
#include "stats/stats.hpp"

// What each worker measures of itself and of its machine before its exchanges.
namespace dlbench::fleet {
namespace {

using nlohmann::json;

Task reference_task(const std::string& environment) {
  Task task;
  task.exchange = {environment, "native", "native", "dlpack", "cpu", "f32", 4096};
  task.clocks.emplace_back().clock = "call";
  return task;
}

std::string mebibytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

void GroupRun::instruments() {
  measure_floors();
  measure_device_floors();
  if (job_.reference && loads_.has_reference()) measure_reference();
  context_.journal.append(record_);
}

void GroupRun::measure_floors() {
  const Reply floors = ask({{"do", "floors"}}, Activity::floors);
  if (!floors.ok || !floors.body.is_object()) throw Garbage("no floors");
  for (const auto& [name, value] : floors.body.items()) {
    if (value.is_number() && value.get<double>() >= 0) {
      record_.floors_ns[name] = value.get<double>();
    }
  }
  // Tens of milliseconds, and the machine's rather than the worker's: once an environment is
  // enough.
  if (!context_.copies_measured.insert(job_.group.environment).second) return;
  const Reply copies = ask({{"do", "copy_floors"}}, Activity::floors);
  for (const char* floor : {"warm", "fresh"}) {
    const double rate = copies.ok ? copies.body.value(floor, 0.0) : 0;
    if (rate > 0) record_.copy_floors_gb_per_s[floor] = rate;
  }
}

void GroupRun::measure_device_floors() {
  for (const Task& task : tasks_) {
    for (const std::string& device : {source_of(task.exchange), target_of(task.exchange)}) {
      // Each once an environment, by a worker that has to do with it.
      if (task.over || device == "cpu") continue;
      if (!context_.copies_measured.insert(job_.group.environment + " " + device).second) continue;
      const Reply copies =
          ask({{"do", "copy_floors"}, {"device", device}}, Activity::device_floors);
      if (!copies.ok || !copies.body.is_object()) continue;
      const json rates = copies.body.value("gb_per_s", json::object());
      const json bytes = copies.body.value("bytes", json());
      if (!rates.is_object() || rates.empty() || !bytes.is_number_unsigned()) continue;
      record_.copy_floors_bytes[device] = bytes.get<std::uint64_t>();
      for (const auto& [floor, rate] : rates.items()) {
        if (rate.is_number() && rate.get<double>() > 0) {
          record_.copy_floors_gb_per_s[floor] = rate.get<double>();
        }
      }
    }
  }
}

void GroupRun::report_device_memory() {
  for (const std::string& device : devices_) {
    const Reply reply = ask({{"do", "device_memory"}, {"device", device}}, Activity::device_memory);
    const json free = reply.ok ? reply.body.value("free", json()) : json();
    const json total = reply.ok ? reply.body.value("total", json()) : json();
    if (free.is_number_unsigned() && total.is_number_unsigned()) {
      device_bytes_[device] = context_.device_memory.add(device, free, total);
      if (context_.device_memory.is_found_full(device)) {
        const std::string left = mebibytes(free), all = mebibytes(total);
        warn(job_.warnings, "one-worker-on-device",
             "one worker at a time on " + device + ": " + left + " of " + all +
                 " are free; another worker may need 1.25 times what this one holds",
             {{"device", device}, {"free", left}, {"total", all}});
      }
    } else {
      context_.device_memory.add_unknown(device);
    }
  }
}

void GroupRun::forget_device_memory() {
  for (const auto& [device, bytes] : std::exchange(device_bytes_, {})) {
    context_.device_memory.release(device, bytes);
  }
}

void GroupRun::measure_reference() {
  Task reference = reference_task(job_.group.environment);
  const Reply prepared = ask(prepare_request(reference), Activity::reference);
  if (!prepared.ok) return;
  read_prepared(prepared.body, record_.floors_ns, reference);
  Samples& samples = reference.clocks[0];
  for (std::size_t i = 0; i < kCoarseRounds; ++i) {
    const Reply answer = ask(round_request(reference, samples), Activity::reference);
    if (answer.ok) add_round(read_round(answer.body, samples.clock), samples);
  }
  if (!samples.ns.empty()) record_.reference_ns = stats::median(samples.ns);
  ask(drop_request(reference), Activity::reference);
}

}  // namespace dlbench::fleet
