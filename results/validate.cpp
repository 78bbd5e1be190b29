#include <array>
#include <unordered_set>

#include "model/error.hpp"
#include "results/document.hpp"
#include "results/strict_json.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;

void check_environment(const Fields& environment) {
  environment.text("python");
  if (environment.has("gil")) environment.flag("gil");
  const Fields libraries = environment.object("libraries");
  for (const auto& [key, value] : libraries.json().items()) libraries.text(key);
  const Fields floors = environment.object("floors_ns");
  for (const auto& [key, value] : floors.json().items()) floors.number(key);
  if (environment.has("copy_floors_gb_per_s")) {
    const Fields rates = environment.object("copy_floors_gb_per_s");
    for (const auto& [key, value] : rates.json().items()) rates.positive(key);
  }
  if (environment.has("anchor")) {
    const Fields anchor = environment.object("anchor");
    anchor.positive("median_ns");
    if (anchor.has("spread")) anchor.number("spread");
    anchor.count("workers");
  }
}

void check_dlbench(const Fields& about) {
  if (const std::uint64_t schema = about.count("schema"); schema != kSchema) {
    about.fail("schema", schema > kSchema ? "1: a newer dlbench wrote this document" : "1");
  }
  about.text("version");
  about.number("wall_s");
  about.object("machine");
  const Fields environments = about.object("environments");
  for (const auto& [key, value] : environments.json().items()) {
    check_environment(environments.object(key));
  }
}

void check_context(const Fields& context) {
  if (!context.has("dlbench")) {
    context.fail("dlbench", "dlbench's block (not a dlbench results document)");
  }
  check_dlbench(context.object("dlbench"));
  for (const std::string_view key : {"date", "host_name", "library_build_type"}) context.text(key);
  context.count("num_cpus");
  context.number("mhz_per_cpu");
  context.count("json_schema_version");
  std::size_t index = 0;
  for (const json& cache : context.list("caches")) {
    const Fields fields(cache, context.place("caches") + "/" + std::to_string(index++));
    fields.text("type");
    for (const std::string_view key : {"level", "size", "num_sharing"}) fields.count(key);
  }
}

void check_items(const Fields& document, std::string_view key, bool measured,
                 std::unordered_set<std::string>& names) {
  std::size_t index = 0;
  for (const json& value : document.list(key)) {
    const Fields item(value, document.place(key) + "/" + std::to_string(index++));
    if (is_measured(outcome_from(item.one_of("outcome", kOutcomes))) != measured) {
      item.fail("outcome", measured ? "a measured outcome" : "an outcome without a number");
    }
    entry_from_json(item);
    if (!names.insert(item.text("name")).second) {
      item.fail("name", "a name that no other cell has");
    }
  }
}

constexpr std::array<std::string_view, 4> kCheckOutcomes{"holds", "broken", "not-applicable",
                                                         "unclear"};

void check_checks(const Fields& document) {
  if (!document.has("checks")) return;
  std::unordered_set<std::string> names;
  std::size_t index = 0;
  for (const json& value : document.list("checks")) {
    const Fields item(value, document.place("checks") + "/" + std::to_string(index++));
    for (const std::string_view key : {"version", "role", "level", "section", "seen"}) {
      item.text(key);
    }
    const bool broken = item.one_of("outcome", kCheckOutcomes) == "broken";
    if (broken) item.text("reproducer");
    if (item.has("accepted")) item.flag("accepted");
    const std::string name = item.text("library") + " " + item.text("rule");
    if (!names.insert(name).second) item.fail("rule", "a rule that was not checked already");
  }
}

}  // namespace

void validate_document(const std::filesystem::path& path) {
  const std::string text = read_whole(path, kMostBytes);
  if (text.empty()) throw UsageError(path.string() + ": the file is empty");
  const json value = parse_strict(text, path.string());
  const Fields document(value, path.string() + ": ");
  check_context(document.object("context"));
  std::unordered_set<std::string> names;
  check_items(document, "benchmarks", true, names);
  check_items(document, "not_measured", false, names);
  check_checks(document);
}

}  // namespace dlbench::results
