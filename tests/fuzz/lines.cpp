// What comes from a file or from a worker: lines of JSON, valid ones with one change. All
// readers throw a UsageError or ProtocolError of one line, or succeed; what was read can be
// written.

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "input.hpp"
#include "json_input.hpp"
#include "model/error.hpp"
#include "results/document.hpp"
#include "results/schema/strict_json.hpp"
#include "supervisor/process/channel.hpp"
#include "supervisor/wire.hpp"

namespace {

using namespace dlbench;
using dlbench::fuzz::damaged;
using dlbench::fuzz::Folder;
using dlbench::fuzz::Input;
using dlbench::fuzz::mutate;
using dlbench::fuzz::require_text;
using dlbench::fuzz::text_of;
using dlbench::fuzz::write;
using nlohmann::json;

Entry measured() {
  Entry entry;
  Exchange& x = entry.cell.exchange;
  x.producer = "numpy";
  x.consumer = "torch";
  x.protocol = "dlpack";
  entry.outcome = Outcome::copy;
  entry.median_ns = 10;
  entry.lo_ns = 9;
  entry.hi_ns = 11;
  entry.iterations = 5;
  entry.gb_per_s = 2.5;
  entry.workers = {{10, 20, {9, 10, 11}}};
  entry.observed = {"dlpack", "direct", {"__dlpack__()"}, "versioned", {1, 0}, {}, {}};
  return entry;
}

json context() {
  return json::parse(R"({"date": "2026-01-02T03:04:05+00:00", "host_name": "host", "num_cpus": 2,
      "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 2}],
      "load_avg": [0.5], "dlbench": {"schema": 1, "command": ["dlbench"], "seed": 1,
      "request": {"pair": ["numpy", "torch"], "budget": "", "replicas": 1, "sync": false},
      "compare": {"env": [], "workers": 5, "threshold": 0.05, "instructions": false},
      "not_installed": {"mlx": "pip install mlx"},
      "machine": {"cpu": "A CPU", "cores": 2, "virtual": false, "devices": [{"name": "cuda",
      "state": "ok", "count": 1, "units": [{"name": "A", "uuid": "GPU-1", "mode": ""}]}]},
      "environments": {"default": {"executable": "python"}}}})");
}

json comparison() {
  return json::parse(R"({"dlbench_comparison": 1, "version": "0.1.0", "metric": "time",
      "threshold": 0.05, "false_alarms": 0.01,
      "base": {"runs": ["a"], "environment": "", "date": "", "python": "", "libraries": {"a": "1"}},
      "head": {"runs": ["b"], "environment": "", "date": "", "python": "", "libraries": {}},
      "counts": {"FAST": 0, "SLOW": 1, "SAME": 0, "AMBIG": 0, "INCONCLUSIVE": 0, "worse": 0, "better": 0, "other": 0,
      "gained": 0, "lost": 0}, "minimum_detectable_change": {"least": 0.1, "median": 0.1, "most": 0.1},
      "warnings": [{"code": "no-reference", "text": "w", "data": {"k": "v"}}], "cells": [{"name": "n", "phase": "exchange", "clock": "call",
      "producer": "a", "consumer": "b", "protocol": "dlpack", "device": "cpu", "case": "f32",
      "bytes": 4096, "environment": "default", "presence": "both",
      "base_outcome": "copy", "head_outcome": null, "base": 10.5, "head": 12, "base_workers": 5,
      "head_workers": 5, "ratio": 1.1, "lo": 1.05, "hi": 1.2, "p": 0.001, "spread": 0.01,
      "minimum_detectable_change": 0.04, "verdict": "SLOW", "outcome_change": null, "details": ["d"]}]})");
}

const std::vector<json>& honest_lines() {
  static const std::vector<json> kLines = [] {
    Entry refused = measured();
    refused.cell.exchange.consumer = "jax";
    refused.outcome = Outcome::refused;
    refused.reason = "no";
    const auto line = [](const char* key, const Entry& entry) {
      return json{{key, json::parse(results::entry_to_json(entry).dump())}};
    };
    return std::vector<json>{{{"dlbench_journal", 1}, {"fingerprint", "0"}, {"context", context()}},
                             line("entry", measured()),
                             line("entry", refused),
                             {{"worker",
                               {{"environment", "default"},
                                {"imports", {"numpy", "torch"}},
                                {"python", "3.11"},
                                {"gil", true},
                                {"floors_ns", {{"call", 20}}},
                                {"copy_floors_gb_per_s", {{"warm", 10.0}}},
                                {"reference_ns", 60},
                                {"libraries", {{"numpy", "2"}}},
                                {"import_s", 1}}}},
                             {{"end", {{"wall_s", 1}, {"round_s", 1}, {"signal", 0}}}}};
  }();
  return kLines;
}

template <typename Read>
void clearly(Read read) {
  try {
    read();
  } catch (const UsageError& error) {
    require_text(error.what());
  } catch (const supervisor::ProtocolError& error) {
    require_text(error.what());
  }
}

void journal(Input& in) {
  static const Folder folder;
  std::string text;
  for (json line : honest_lines()) {
    if (!in.usual()) continue;
    if (in.byte() % 2 == 0) mutate(line, in);
    text += text_of(line) + "\n";
  }
  write(folder.path / "journal.jsonl", in.usual() ? text : damaged(text, in));
  clearly([&] {
    results::write_document(folder.path);
    results::validate_document(folder.path / "results.json");
  });
}

void document(Input& in) {
  static const Folder folder;
  static const json kWritten = [] {
    std::string text;
    for (const json& line : honest_lines()) text += text_of(line) + "\n";
    write(folder.path / "journal.jsonl", text);
    return json::parse(std::ifstream(results::write_document(folder.path)));
  }();
  json changed = kWritten;
  mutate(changed, in);
  const std::string text = text_of(changed);
  write(folder.path / "results.json", in.usual() ? text : damaged(text, in));
  clearly([&] { results::validate_document(folder.path / "results.json"); });
}

void compared(Input& in) {
  static const Folder folder;
  static const json kHonest = comparison();
  json changed = kHonest;
  mutate(changed, in);
  const std::string text = text_of(changed);
  write(folder.path / "comparison.json", in.usual() ? text : damaged(text, in));
  clearly([&] { results::validate_comparison(folder.path / "comparison.json"); });
}

void wire(Input& in) {
  json prepared = json::parse(R"({"outcome": "copy", "changed": ["dtype"], "copied_by": "producer",
      "late_read": true, "evidence": {"write": "no"}, "warnings": [{"code": "few-pages-read", "text": "w", "data": {"k": "v"}}],
      "guard": {"pages": 4, "read": 3, "written": 1, "late": 2, "by": ["lib"]}, "iterations": {"call": 5},
      "first_ns": {"call": 9.5}, "floor": "call", "observed": {"used": "dlpack", "via": "direct",
      "calls": ["c"], "struct": "versioned", "version": [1, 0], "flags": []}})");
  json round = {{"ns", 1.5},      {"cpu_ns", 1},    {"moved", false}, {"preempted", 1},
                {"behind", true}, {"canary_ns", 9}, {"empty_ns", 20}, {"spent_ns", 90}};
  json error = {{"outcome", "refused"}, {"exception", "E"}, {"reason", "r"}};
  for (json* message : {&prepared, &round, &error}) {
    for (std::uint64_t times = in.below(3); times > 0; --times) mutate(*message, in);
  }
  supervisor::Task task;
  task.clocks.emplace_back().clock = "call";
  clearly([&] { supervisor::read_prepared(prepared, {{"call", 20.0}}, task); });
  clearly([&] { supervisor::read_judged(prepared, task); });
  clearly([&] { supervisor::read_round(round, in.below(2) == 0 ? "call" : "device"); });
  clearly([&] { supervisor::read_error(error, Outcome::refused); });
}

void text(Input& in) {
  std::string text = text_of(honest_lines()[in.below(honest_lines().size())]);
  clearly([&] { results::parse_strict(damaged(text, in), "file"); });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in({data, size});
  const std::uint8_t what = in.byte() % 16;
  if (what < 2)
    journal(in);
  else if (what < 4)
    document(in);
  else if (what < 5)
    compared(in);
  else if (what < 10)
    wire(in);
  else
    text(in);
  return 0;
}
