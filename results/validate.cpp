#include "results/document.hpp"
#include "results/read.hpp"
#include "results/schema.hpp"
#include "results/strict_json.hpp"

namespace dlbench::results {

void validate_document(const std::filesystem::path& path) {
  read_document(path, [](const ReadEntry&) {});
}

void validate_comparison(const std::filesystem::path& path) {
  const Parsed parsed = parse_strict(read_whole(path, kMostBytes), path.string());
  check(parsed.value(), Schema::of_comparison().part(), path.string() + ": ");
}

}  // namespace dlbench::results
