#include "results/read.hpp"

#include <array>
#include <memory_resource>
#include <optional>
#include <string>
#include <unordered_set>
#include <utility>

#include "model/error.hpp"
#include "results/comparison/compared_fields.hpp"
#include "results/document.hpp"
#include "results/records.hpp"
#include "results/schema/context.hpp"
#include "results/schema/strict_json.hpp"

namespace dlbench::results {
namespace {

constexpr std::array<std::string_view, 2> kLists{"benchmarks", "not_measured"};

/// Requires a dlbench document of this schema. Checked before its content.
void require_known(const Fields& context) {
  if (!context.has("dlbench")) {
    context.fail("dlbench", "the facts of a run (this is not a dlbench results document)");
  }
  const Fields about = context.object("dlbench");
  if (const std::uint64_t schema = about.count("schema"); schema != kSchema) {
    about.fail("schema", schema > kSchema ? "1: a newer dlbench wrote this document" : "1");
  }
}

/// The machines that entries name, and the place of the first entry of each.
class MachinesNamed {
 public:
  void add(const std::string& machine, const Fields& item) {
    if (machine != last_ && named_.insert(machine).second) {
      places_.emplace_back(machine, item.place("machine"));
    }
    last_ = machine;
  }

  /// Requires that each entry names a machine of the document, or none if the document has none.
  void require_in(const Fields& about) const {
    const Value* const machines = about.value().find("machines");
    for (const auto& [machine, place] : places_) {
      const bool known = machines == nullptr ? machine.empty() : machines->find(machine) != nullptr;
      if (known) continue;
      throw UsageError(place + ": expected a key of /context/dlbench/machines, found " +
                       (machine.empty() ? "nothing" : "another"));
    }
  }

 private:
  std::optional<std::string> last_;
  std::unordered_set<std::string> named_;
  std::vector<std::pair<std::string, std::string>> places_;
};

void require_each_rule_once(const Fields& document, MachinesNamed& machines) {
  if (!document.has("checks")) return;
  std::unordered_set<std::string> names;
  std::size_t index = 0;
  for (const Value& value : document.list("checks")) {
    const Fields item(value, document.place("checks") + "/" + std::to_string(index++));
    if (item.text("outcome") == "broken") {
      item.text("reproducer");
      item.at("accepted");
    }
    const std::string machine = item.text_or("machine", "");
    machines.add(machine, item);
    const std::string name = item.text("library") + " " + item.text("rule") + " " + machine;
    if (!names.insert(name).second) item.fail("rule", "a rule that no earlier item has");
  }
}

}  // namespace

nlohmann::json read_document(const std::filesystem::path& path,
                             const std::function<void(Entry)>& on_entry) {
  const std::string place = path.string() + ": ";
  std::pmr::monotonic_buffer_resource memory;
  std::pmr::unordered_set<std::pmr::string> names(&memory);
  MachinesNamed machines;
  const OnItem take = [&](std::string_view list, std::size_t index, const Value& value) {
    std::string where = place + "/";
    where.append(list).append("/").append(std::to_string(index));
    const Fields item(value, std::move(where));
    Entry entry = entry_from_json(item, list == kLists[0]);
    if (!names.emplace(item.text("name")).second)
      item.fail("name", "a name that no earlier cell has");
    machines.add(entry.cell.machine, item);
    on_entry(std::move(entry));
  };
  const Parsed parsed = read_strict(path, kMostBytes, kLists, take);
  const Fields document(parsed.value(), place);
  const Fields context = document.object("context");
  require_known(context);
  check_document(document);
  require_each_rule_once(document, machines);
  machines.require_in(context.object("dlbench"));
  return context.value().json();
}

void validate_document(const std::filesystem::path& path) {
  read_document(path, [](const Entry&) {});
}

void validate_comparison(const std::filesystem::path& path) {
  const Parsed parsed = parse_strict(read_whole(path, kMostBytes), path.string());
  check_comparison(Fields(parsed.value(), path.string() + ": "));
}

}  // namespace dlbench::results
