#include "supervisor/rounds/instruments.hpp"

#include <set>
#include <utility>

#include "model/places.hpp"
#include "stats/stats.hpp"
#include "supervisor/rounds/numbers.hpp"
#include "supervisor/rounds/pace.hpp"
#include "supervisor/wire.hpp"

namespace dlbench::supervisor {
namespace {

using nlohmann::json;

Task reference_task(const std::string& environment) {
  Task task;
  task.exchange = {environment, "native", "native", "dlpack", "cpu", "f32", 4096};
  task.clocks.emplace_back().clock = "call";
  return task;
}

// The sizes of the run's arrays. Copies of larger ones take too long.
std::set<std::uint64_t> sizes_on(const std::string& device, const plan::Plan& plan) {
  constexpr std::uint64_t kMostBytes = 64ULL << 20;
  std::set<std::uint64_t> sizes;
  for (const Cell& cell : plan.cells) {
    const std::uint64_t bytes = cell.exchange.bytes;
    const bool is_between = device != "cpu" && (source_of(cell.exchange) == device ||
                                                target_of(cell.exchange) == device);
    const bool is_there = is_between || cell.exchange.device == device;
    if (is_there && bytes > 0 && bytes <= kMostBytes) sizes.insert(bytes);
  }
  return sizes;
}

std::string mebibytes(std::uint64_t bytes) {
  return std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

void Instruments::measure_floors(results::WorkerRecord& record) {
  const Reply floors = worker_.request({{"do", "floors"}}, Activity::floors);
  if (!floors.ok || !floors.body.is_object()) throw ProtocolError("no floors");
  for (const auto& [name, value] : floors.body.items()) {
    if (value.is_number() && value.get<double>() >= 0) {
      record.floors_ns[name] = value.get<double>();
    }
  }
  // The host's copy floors take tens of milliseconds; measure them once for each environment.
  if (!context_.copies_measured.insert(record.environment).second) return;
  const Reply copies = worker_.request(
      {{"do", "copy_floors"}, {"bytes", sizes_on("cpu", context_.plan)}}, Activity::floors);
  if (!copies.ok || !copies.body.is_object()) return;
  for (const auto& [floor, rate] : copies.body.items()) {
    if (rate.is_number() && rate.get<double>() > 0) {
      record.copy_floors_gb_per_s[floor] = rate.get<double>();
    }
  }
}

void Instruments::measure_device_floors(const std::set<std::string>& devices,
                                        results::WorkerRecord& record) {
  for (const std::string& device : devices) {
    // Each device is measured once for each environment, by a worker that uses it.
    if (!context_.copies_measured.insert(record.environment + " " + device).second) continue;
    const Reply copies = worker_.request(
        {{"do", "copy_floors"}, {"device", device}, {"bytes", sizes_on(device, context_.plan)}},
        Activity::device_floors);
    if (!copies.ok || !copies.body.is_object()) continue;
    const json waits = copies.body.value("host_waits", json());
    if (waits.is_string()) record.context_flags[device] = waits.get<std::string>();
    const json rates = copies.body.value("gb_per_s", json::object());
    const json bytes = copies.body.value("bytes", json());
    if (!rates.is_object() || rates.empty() || !bytes.is_number_unsigned()) continue;
    record.copy_floors_bytes[device] = bytes.get<std::uint64_t>();
    for (const auto& [floor, rate] : rates.items()) {
      if (rate.is_number() && rate.get<double>() > 0) {
        record.copy_floors_gb_per_s[floor] = rate.get<double>();
      }
    }
  }
}

void Instruments::report_device_memory(const std::set<std::string>& devices, Warnings& warnings) {
  for (const std::string& device : devices) {
    const Reply reply =
        worker_.request({{"do", "device_memory"}, {"device", device}}, Activity::device_memory);
    const json free = reply.ok ? reply.body.value("free", json()) : json();
    const json total = reply.ok ? reply.body.value("total", json()) : json();
    if (free.is_number_unsigned() && total.is_number_unsigned()) {
      device_bytes_[device] = context_.device_memory.add(device, free, total);
      if (context_.device_memory.is_found_full(device)) {
        const std::string left = mebibytes(free), all = mebibytes(total);
        warn(warnings, "one-worker-on-device",
             "one worker at a time on " + device + ": only " + left + " of " + all +
                 " are free, and a second worker may need 1.25 times the memory of this one",
             {{"device", device}, {"free", left}, {"total", all}});
      }
    } else {
      context_.device_memory.add_unknown(device);
    }
  }
}

void Instruments::forget_device_memory() {
  for (const auto& [device, bytes] : std::exchange(device_bytes_, {})) {
    context_.device_memory.release(device, bytes);
  }
}

void Instruments::measure_reference(results::WorkerRecord& record) {
  Task reference = reference_task(record.environment);
  const Reply prepared = worker_.request(prepare_request(reference), Activity::reference);
  if (!prepared.ok) return;
  read_prepared(prepared.body, record.floors_ns, reference);
  Samples& samples = reference.clocks[0];
  for (std::size_t i = 0; i < 2 * kCoarseRounds && samples.ns.size() < kCoarseRounds; ++i) {
    const Reply answer = worker_.request(round_request(reference, samples), Activity::reference);
    if (!answer.ok) continue;
    const RoundTime time = read_round(answer.body, samples.clock);
    const bool was_slow = context_.ledger.core_speed().add_slow(time.canary_ns);
    if (i < kCoarseRounds && was_slow) continue;
    context_.round_s += add_round(time, samples);
  }
  if (!samples.ns.empty()) {
    record.reference_ns = stats::median(samples.ns);
    record.reference_core_ns = core_ns(samples.canary_ns);
  }
  worker_.request(drop_request(reference), Activity::reference);
}

}  // namespace dlbench::supervisor
