#include "results/read.hpp"

#include <array>
#include <memory_resource>
#include <string>
#include <unordered_set>
#include <utility>

#include "model/error.hpp"
#include "results/checks.hpp"
#include "results/context.hpp"
#include "results/entry_json.hpp"
#include "results/strict_json.hpp"

namespace dlbench::results {
namespace {

constexpr std::uintmax_t kMostBytes = std::uintmax_t{1} << 30;
constexpr std::array<std::string_view, 2> kLists{"benchmarks", "not_measured"};

ReadEntry read_item(const Fields& item, bool measured) {
  if (is_measured(outcome_from(item.one_of("outcome", kOutcomes))) != measured) {
    item.fail("outcome", measured ? "a measured outcome" : "an outcome without a number");
  }
  return {entry_from_json(item), item.text("name"), item.text_or("machine", "")};
}

}  // namespace

nlohmann::json read_document(const std::filesystem::path& path,
                             const std::function<void(ReadEntry)>& on_entry) {
  Blocks blocks(path, kMostBytes);
  if (blocks.is_last()) throw UsageError(path.string() + ": the file is empty");
  const std::string place = path.string() + ": ";
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::unordered_set<std::pmr::string> names(&memory);
  const OnItem take = [&](std::string_view list, std::size_t index, const Value& value) {
    std::string where = place + "/";
    where.append(list).append("/").append(std::to_string(index));
    const Fields item(value, std::move(where));
    ReadEntry read = read_item(item, list == kLists[0]);
    if (!names.emplace(read.name).second) item.fail("name", "a name that no other cell has");
    on_entry(std::move(read));
  };
  const Parsed parsed = parse_strict(blocks, path.string(), kLists, take);
  const Fields document(parsed.value(), place);
  const Fields context = document.object("context");
  check_context(context);
  for (const std::string_view list : kLists) document.list(list);
  check_checks(document);
  return context.value().json();
}

}  // namespace dlbench::results
