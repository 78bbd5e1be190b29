#include "results/context.hpp"

#include "results/document.hpp"

namespace dlbench::results {
namespace {

void check_environment(const Fields& environment) {
  environment.text("python");
  if (environment.has("gil")) environment.flag("gil");
  const Fields libraries = environment.object("libraries");
  for (const auto& [key, value] : libraries.members()) libraries.text(key);
  const Fields floors = environment.object("floors_ns");
  for (const auto& [key, value] : floors.members()) floors.number(key);
  if (environment.has("copy_floors_gb_per_s")) {
    const Fields rates = environment.object("copy_floors_gb_per_s");
    for (const auto& [key, value] : rates.members()) rates.positive(key);
  }
  if (environment.has("anchor")) {
    const Fields anchor = environment.object("anchor");
    anchor.positive("median_ns");
    if (anchor.has("spread")) anchor.number("spread");
    if (anchor.has("half_width")) anchor.number("half_width");
    anchor.count("workers");
  }
}

void check_environments(const Fields& environments) {
  for (const auto& [key, value] : environments.members()) {
    check_environment(environments.object(key));
  }
}

/// What was asked of the run, as far as it is told.
void check_request(const Fields& request) {
  for (const std::string_view key : {"couple", "producers", "consumers", "protocols", "devices",
                                     "cases", "sizes", "count", "phases", "env"}) {
    if (request.has(key)) request.texts(key);
  }
  for (const std::string_view key : {"filter", "budget", "precision", "timeout", "adapters"}) {
    if (request.has(key)) request.text(key);
  }
  for (const std::string_view key : {"replicas", "jobs", "seed"}) {
    if (request.has(key)) request.count(key);
  }
}

void check_told(const Fields& about) {
  if (about.has("request")) check_request(about.object("request"));
  if (about.has("absent")) {
    const Fields absent = about.object("absent");
    for (const auto& [key, value] : absent.members()) absent.text(key);
  }
}

void check_dlbench(const Fields& about) {
  if (const std::uint64_t schema = about.count("schema"); schema != kSchema) {
    about.fail("schema", schema > kSchema ? "1: a newer dlbench wrote this document" : "1");
  }
  about.text("version");
  about.number("wall_s");
  about.object("machine");
  check_told(about);
  check_environments(about.object("environments"));
  if (!about.has("machines")) return;
  const Fields machines = about.object("machines");
  for (const auto& [key, value] : machines.members()) {
    const Fields machine = machines.object(key);
    machine.object("machine");
    machine.number("wall_s");
    check_told(machine);
    if (machine.object("context").has("dlbench")) machine.fail("context", "no `dlbench` in it");
    check_environments(machine.object("environments"));
  }
}

}  // namespace

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
  for (const Value& cache : context.list("caches")) {
    const Fields fields(cache, context.place("caches") + "/" + std::to_string(index++));
    fields.text("type");
    for (const std::string_view key : {"level", "size", "num_sharing"}) fields.count(key);
  }
}

}  // namespace dlbench::results
