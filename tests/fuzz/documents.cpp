// Results documents, honest ones with something changed: the reader says one line that names the
// file, or every cell can be compared with its honest self.

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "input.hpp"
#include "json_input.hpp"
#include "model/error.hpp"
#include "results/comparison/compare.hpp"
#include "results/document.hpp"

namespace {

using namespace dlbench;
using dlbench::fuzz::Input;
using dlbench::fuzz::require;
using dlbench::fuzz::require_text;
using nlohmann::json;

Entry measured(const char* consumer, Outcome outcome) {
  Entry entry;
  Exchange& x = entry.cell.exchange;
  x.producer = "numpy";
  x.consumer = consumer;
  x.protocol = "dlpack";
  entry.outcome = outcome;
  entry.median_ns = 10;
  entry.lo_ns = 9;
  entry.hi_ns = 11;
  entry.iterations = 5;
  entry.instructions = 1000;
  entry.late_read = outcome == Outcome::copy;
  entry.changed = {"dtype"};
  entry.workers = {{10, 20, {9, 10, 11}, 1200}, {11, 20, {10, 11, 12}, 1210}};
  entry.observed = {"dlpack", "direct", {"__dlpack__()"}, "versioned", {1, 0}, {}, {}};
  return entry;
}

const std::filesystem::path& folder() {
  static const fuzz::Folder kFolder;
  return kFolder.path;
}

const json& honest() {
  static const json kDocument = [] {
    results::JournalContents contents;
    contents.header.context = {
        {"dlbench",
         {{"machine", {{"cpu", "A CPU"}, {"cores", 2}, {"devices", json::array()}}},
          {"build", "b"},
          {"request", {{"pair", json::array()}}}}}};
    Entry refused = measured("jax", Outcome::refused);
    refused.reason = "no";
    contents.entries = {measured("torch", Outcome::zero_copy), measured("mlx", Outcome::copy),
                        refused};
    results::WorkerRecord worker;
    worker.python = "3.11";
    worker.reference_ns = 60;
    worker.reference_core_ns = 1200;
    contents.workers = {worker, worker};
    const std::filesystem::path path = folder() / "honest.json";
    results::write_document(std::move(contents), path);
    return json::parse(std::ifstream(path));
  }();
  return kDocument;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in({data, size});
  json changed = honest();
  for (std::uint64_t times = in.below(3) + 1; times > 0; --times) fuzz::mutate(changed, in);
  const std::string text = fuzz::text_of(changed);
  const std::filesystem::path base = folder() / "honest.json", head = folder() / "head.json";
  fuzz::write(head, in.usual() ? text : fuzz::damaged(text, in));
  results::CompareOptions options;
  options.instructions = !in.usual();
  options.force = in.usual();
  try {
    const results::Comparison made = results::compare({{base}, ""}, {{head}, ""}, options);
    std::size_t reported = 0;
    for (const results::ComparedCell& cell : made.cells) {
      if (cell.ratio) {
        require(*cell.lo > 0 && *cell.lo <= *cell.hi, "a ratio has an interval");
        require(std::isfinite(*cell.ratio) && std::isfinite(*cell.hi), "a ratio is a number");
      }
      for (const auto& number : {cell.p, cell.spread, cell.minimum_detectable_change}) {
        require(!number || (*number >= 0 && std::isfinite(*number)),
                "the reported value is a number");
      }
      // The verdict of the time of a cell with another outcome counts if it is a difference, or if
      // it could hide one.
      const bool is_difference =
          cell.verdict == results::ChangeWord::slow || cell.verdict == results::ChangeWord::fast;
      const bool is_same_outcome = cell.outcome_change == results::OutcomeChange::none;
      const bool is_counted = is_same_outcome || is_difference || cell.inconclusive.has_value();
      reported += cell.verdict && is_counted ? 1 : 0;
    }
    std::size_t counted = 0;
    for (std::size_t word = 0; word < results::kChangeWords.size(); ++word) {
      counted += made.count(static_cast<results::ChangeWord>(word));
    }
    require(reported == counted, "every verdict is counted once");
  } catch (const UsageError& error) {
    require_text(error.what());
  }
  return 0;
}
