#include "results/sync_json.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace dlbench::results {
namespace {

constexpr std::array<std::string_view, 2> kSaw{"old", "new"};
constexpr auto kSyncCodes = [] {
  std::array<std::string_view, codes::kSyncReasons.size()> all;
  std::transform(codes::kSyncReasons.begin(), codes::kSyncReasons.end(), all.begin(),
                 [](const codes::CodeMeaning& one) { return one.code; });
  return all;
}();

/// A number where it is one: that is how libraries are called with it.
OrderedJson stream_to_json(const std::string& stream) {
  if (stream.empty()) return nullptr;
  std::int64_t number = 0;
  const char* const end = stream.data() + stream.size();
  const auto [last, error] = std::from_chars(stream.data(), end, number);
  if (error == std::errc() && last == end) return number;
  return stream;
}

std::string stream_from(const Fields& item) {
  const Value* const stream = item.value().find("stream");
  if (stream != nullptr && stream->is_null()) return "";
  if (stream != nullptr && stream->is_number()) {
    const double number = stream->number();
    if (number >= -1 && number < 1e15 && std::trunc(number) == number) {
      return std::to_string(static_cast<std::int64_t>(number));
    }
  }
  if (stream == nullptr || !stream->is_text() || stream->text().empty()) {
    item.fail("stream", "null, a number or a word");
  }
  return std::string(stream->text());
}

OrderedJson to_json(const Ordering& one) {
  OrderedJson item;
  item["stream"] = stream_to_json(one.stream);
  item["requested_by"] = one.is_own_call ? "consumer" : "dlbench";
  item["required"] = one.required;
  if (one.waits) item["waits"] = to_string(*one.waits);
  if (!one.saw.empty()) item["saw"] = one.saw;
  if (one.transfer_ns) item["transfer_ns"] = *one.transfer_ns;
  if (one.export_blocked) item["export_blocked"] = *one.export_blocked;
  if (one.import_blocked) item["import_blocked"] = *one.import_blocked;
  if (one.gap_ns) item["gap_ns"] = *one.gap_ns;
  put_reason(item, one.reason);
  return item;
}

Ordering ordering_from(const Fields& item) {
  constexpr std::array<std::string_view, 2> kRequestedBy{"consumer", "dlbench"};
  Ordering one;
  one.stream = stream_from(item);
  one.is_own_call = item.one_of("requested_by", kRequestedBy) == "consumer";
  one.required = item.flag("required");
  if (item.has("waits")) one.waits = waits_from(item.one_of("waits", kWaits));
  if (item.has("saw")) one.saw = item.one_of("saw", kSaw);
  if (item.has("transfer_ns")) one.transfer_ns = item.number("transfer_ns");
  if (item.has("export_blocked")) one.export_blocked = item.signed_number("export_blocked");
  if (item.has("import_blocked")) one.import_blocked = item.signed_number("import_blocked");
  if (item.has("gap_ns")) one.gap_ns = item.signed_number("gap_ns");
  if (item.has("reason") || item.has("code")) {
    one.reason = {item.one_of("code", kSyncCodes), item.text("reason"), data_from(item)};
  }
  const bool may_have_both =
      one.waits == Waits::inconclusive || one.waits == Waits::no_delay || one.waits == Waits::none;
  if (one.reason.code.empty() ? !one.waits : one.waits && !may_have_both) {
    item.fail("waits", "either a word or a reason; inconclusive, no-delay and none may have both");
  }
  return one;
}

}  // namespace

void put_sync(OrderedJson& item, const Entry& entry) {
  if (!entry.sync.empty()) {
    OrderedJson& all = item["sync"] = OrderedJson::array();
    for (const Ordering& one : entry.sync) all.push_back(to_json(one));
  }
  if (!entry.late_free.empty()) item["late_free"] = entry.late_free;
}

void read_sync(const Fields& item, Entry& entry) {
  if (item.has("sync")) {
    for (const Value& one : item.list("sync")) {
      const std::string place = item.place("sync") + "/" + std::to_string(entry.sync.size());
      entry.sync.push_back(ordering_from(Fields(one, place)));
    }
  }
  if (item.has("late_free")) entry.late_free = item.one_of("late_free", kLateFree);
}

}  // namespace dlbench::results
