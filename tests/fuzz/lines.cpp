// What comes from a file or from a worker: lines of JSON, honest ones with something changed. All
// readers say a UsageError or Garbage of one line, or read; what was read can be written.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "fleet/channel.hpp"
#include "fleet/wire.hpp"
#include "input.hpp"
#include "model/error.hpp"
#include "results/document.hpp"
#include "results/strict_json.hpp"

namespace {

using namespace dlbench;
using dlbench::fuzz::Input;
using dlbench::fuzz::require_text;
using nlohmann::json;

/// A folder in memory, gone with the process.
struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dlbench-fuzz-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

void write(const std::filesystem::path& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (::write(file, text.data(), text.size()) < 0) std::abort();
  ::close(file);
}

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
  entry.seen = {"dlpack", "direct", {"__dlpack__()"}, "versioned", {1, 0}, {}, {}};
  return entry;
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
    return std::vector<json>{
        {{"dlbench_journal", 1}, {"fingerprint", "0"}, {"context", json::object()}},
        line("entry", measured()),
        line("entry", refused),
        {{"worker",
          {{"environment", "default"},
           {"couple", {"numpy", "torch"}},
           {"python", "3.11"},
           {"gil", true},
           {"floors_ns", {{"call", 20}}},
           {"copy_floors_gb_per_s", {{"warm", 10.0}}},
           {"anchor_ns", 60},
           {"libraries", {{"numpy", "2"}}},
           {"import_s", 1}}}},
        {{"end", {{"wall_s", 1}, {"round_s", 1}, {"signal", 0}}}}};
  }();
  return kLines;
}

json strange(Input& in) {
  switch (in.byte() % 14) {
    case 0:
      return nullptr;
    case 1:
      return in.byte() % 2 == 0;
    case 2:
      return in.number();
    case 3:
      return in.word();
    case 4:
      return -1;
    case 5:
      return 1e300;
    case 6:
      return -0.0;
    case 7:
      return 5e-324;
    case 8:
      return "";
    case 9:
      return std::string(1, static_cast<char>(in.byte()));
    case 10:
      return "yes\n/no";
    case 11:
      return json::array({1, "a", nullptr});
    case 12:
      return json::object({{"a", json::array()}});
    default:
      return json::array();
  }
}

/// Something anywhere in the tree is changed, dropped or added.
void mutate(json& value, Input& in) {
  if (value.is_structured() && !value.empty() && in.usual()) {
    auto child = value.begin();
    std::advance(child, static_cast<std::ptrdiff_t>(in.below(value.size())));
    if (!in.usual())
      value.erase(child);
    else
      mutate(*child, in);
  } else if (value.is_object() && !in.usual()) {
    value["more"] = strange(in);
  } else {
    value = strange(in);
  }
}

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string damaged(std::string text, Input& in) {
  for (std::uint64_t times = in.below(4); times > 0 && !text.empty(); --times) {
    const std::size_t place = in.below(text.size());
    const std::uint8_t how = in.byte() % 4;
    if (how == 0)
      text.resize(place);
    else if (how == 1)
      text[place] = static_cast<char>(in.byte());
    else if (how == 2)
      text.insert(place, in.below(80), "[{\"0,:\\"[in.byte() % 8]);
    else
      text.erase(place, in.below(20));
  }
  return text;
}

template <typename Read>
void clearly(Read read) {
  try {
    read();
  } catch (const UsageError& error) {
    require_text(error.what());
  } catch (const fleet::Garbage& error) {
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

void wire(Input& in) {
  json prepared = json::parse(R"({"outcome": "copy", "changed": ["dtype"], "copied_by": "producer",
      "late_read": true, "evidence": {"write": "no"}, "warnings": ["w"],
      "guard": {"pages": 4, "read": 3, "written": 1, "late": 2, "by": ["lib"]}, "iterations": {"call": 5},
      "first_ns": {"call": 9.5}, "floor": "call", "seen": {"used": "dlpack", "via": "direct",
      "calls": ["c"], "struct": "versioned", "version": [1, 0], "flags": []}})");
  json round = {{"ns", 1.5}, {"cpu_ns", 1}, {"moved", false}, {"preempted", 1}, {"canary_ns", 9}};
  json error = {{"outcome", "refused"}, {"exception", "E"}, {"reason", "r"}};
  for (json* message : {&prepared, &round, &error}) {
    for (std::uint64_t times = in.below(3); times > 0; --times) mutate(*message, in);
  }
  fleet::Task task;
  task.clocks.emplace_back().clock = "call";
  clearly([&] { fleet::read_prepared(prepared, {{"call", 20.0}}, task); });
  clearly([&] { fleet::read_judged(prepared, task); });
  clearly([&] { fleet::read_round(round); });
  clearly([&] { fleet::read_error(error, Outcome::refused); });
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
  else if (what < 10)
    wire(in);
  else
    text(in);
  return 0;
}
