#include <algorithm>
#include <unordered_map>

#include "model/error.hpp"
#include "results/journal.hpp"
#include "results/schema/context.hpp"
#include "results/schema/strict_json.hpp"

namespace dlbench::results {
namespace {

constexpr std::uintmax_t kMostJournalBytes = std::uintmax_t{4} << 30;
constexpr std::string_view kBeginning = "{\"dlbench_journal\":1,";

/// Is this the torn first line of a run that was killed?
bool is_torn_header(std::string_view bytes) {
  const std::size_t common = std::min(bytes.size(), kBeginning.size());
  return bytes.substr(0, common) == kBeginning.substr(0, common);
}

Header header_from(const Fields& line) {
  if (!line.has("dlbench_journal")) line.fail("dlbench_journal", "a dlbench journal's header");
  if (const std::uint64_t format = line.count("dlbench_journal"); format != 1) {
    line.fail("dlbench_journal", format > 1 ? "1: a newer dlbench wrote this journal" : "1");
  }
  const Fields context = line.object("context");
  check_context(context);
  return {line.text("fingerprint"), context.value().json()};
}

/// Replaces an earlier count and its warning.
void apply(const CountRecord& count, Entry& entry) {
  forget(entry.warnings, "instructions-failed");
  entry.instructions = count.instructions;
  if (!count.instructions) {
    warn(entry.warnings, "instructions-failed", "instructions: " + count.failure);
  }
}

void apply(const ApiRecord& record, Entry& entry) {
  forget(entry.warnings, "api-calls-failed");
  entry.api_calls = record.calls;
  if (!record.calls) warn(entry.warnings, "api-calls-failed", "API calls: " + record.failure);
}

/// Replaces earlier results. A race has no number, but keeps its evidence.
void apply(const SyncRecord& record, Entry& entry) {
  forget(entry.warnings, "sync-failed");
  entry.sync = record.sync;
  entry.late_free = record.late_free;
  if (!record.failure.empty()) warn(entry.warnings, "sync-failed", "sync: " + record.failure);
  if (record.race.empty()) return;
  entry.outcome = Outcome::race;
  entry.reason = record.race;
  entry.code.clear();
  entry.found.reset();
  entry.below_ns.reset();
  entry.data.clear();
  entry.device_timer.reset();
}

/// Replaces earlier results of the same exchanges.
void apply(const CaptureRecord& record, Entry& entry) {
  for (const Capture& one : record.capture) {
    std::erase_if(entry.capture, [&one](const Capture& before) {
      return before.stream == one.stream && before.is_own_call == one.is_own_call &&
             before.is_one_stream == one.is_one_stream;
    });
    entry.capture.push_back(one);
  }
}

/// Is `entry` the same cell with the numbers of additional workers? Earlier workers may be missing
/// if they were disturbed.
bool continues(const Entry& entry, const Entry& before) {
  if (!is_measured(before.outcome) || !is_measured(entry.outcome)) return false;
  if (entry.workers.size() < before.workers.size()) return false;
  if (has(entry.warnings, "worker-replaced")) return true;
  return std::all_of(
      before.workers.begin(), before.workers.end(), [&](const WorkerNumbers& earlier) {
        return std::any_of(
            entry.workers.begin(), entry.workers.end(),
            [&](const WorkerNumbers& one) { return one.samples_ns == earlier.samples_ns; });
      });
}

class JournalReader {
 public:
  explicit JournalReader(std::string file) : file_(std::move(file)) {}

  void add_line(std::string_view text) {
    if (++line_ == 1) {
      const std::string place = file_ + ":1";
      const Parsed parsed = parse_strict(text, place);
      contents.header = header_from(Fields(parsed.value(), place + ": "));
      return;
    }
    try {
      add_record(text);
    } catch (const UsageError& error) {
      if (contents.dropped_lines++ == 0) contents.first_dropped = error.what();
    }
  }

  JournalContents contents;

 private:
  struct Place {
    std::size_t index;
    std::size_t line;
  };

  void add_record(std::string_view text) {
    const std::string place = "line " + std::to_string(line_);
    const std::string here = place + ": ";
    const Parsed parsed = parse_strict(text, place);
    const Fields line(parsed.value(), here);
    if (line.has("entry"))
      add_entry(entry_from(line.object("entry")), here);
    else if (line.has("worker"))
      contents.workers.push_back(worker_from(line.object("worker")));
    else if (line.has("end"))
      contents.ends.push_back(end_from(line.object("end")));
    else if (line.has("count"))
      add_later(count_from(line.object("count")), here);
    else if (line.has("api"))
      add_later(api_record_from(line.object("api")), here);
    else if (line.has("sync"))
      add_later(sync_record_from(line.object("sync")), here);
    else if (line.has("capture"))
      add_later(capture_record_from(line.object("capture")), here);
    else
      throw UsageError(here + "expected the key entry, worker, count, api, sync, capture or end");
  }

  static Entry entry_from(const Fields& item) {
    return entry_from_json(item, item.has("real_time"));
  }

  void add_entry(Entry entry, const std::string& here) {
    std::string full_name = name(entry.cell);
    const auto [found, is_new] =
        places_.try_emplace(std::move(full_name), Place{contents.entries.size(), line_});
    if (is_new) {
      contents.entries.push_back(std::move(entry));
      return;
    }
    Entry& before = contents.entries[found->second.index];
    if (is_final(before) && !continues(entry, before)) {
      throw UsageError(here + found->first + " was recorded before, in line " +
                       std::to_string(found->second.line));
    }
    before = std::move(entry);
    found->second.line = line_;
  }

  template <typename Record>
  void add_later(const Record& record, const std::string& here) {
    const auto found = places_.find(record.cell);
    Entry* const entry = found == places_.end() ? nullptr : &contents.entries[found->second.index];
    if (entry == nullptr || !is_timed(*entry)) {
      throw UsageError(here + record.cell + " has a count, but was not measured before");
    }
    apply(record, *entry);
  }

  std::string file_;
  std::size_t line_ = 0;
  std::unordered_map<std::string, Place> places_;
};

}  // namespace

JournalContents read_journal(const std::filesystem::path& path) {
  const std::string bytes = read_whole(path, kMostJournalBytes);
  JournalReader reader(path.string());
  std::size_t begin = 0;
  for (std::size_t end = bytes.find('\n'); end != std::string::npos;
       end = bytes.find('\n', begin)) {
    reader.add_line(std::string_view(bytes).substr(begin, end - begin));
    begin = end + 1;
  }
  if (begin == 0 && !is_torn_header(bytes)) {
    throw UsageError(path.string() + ":1: not a dlbench journal");
  }
  reader.contents.whole_bytes = begin;
  return std::move(reader.contents);
}

std::unordered_set<std::string> recorded_names(const JournalContents& contents) {
  std::unordered_set<std::string> names;
  names.reserve(contents.entries.size());
  for (const Entry& entry : contents.entries) {
    if (is_final(entry)) names.insert(name(entry.cell));
  }
  return names;
}

}  // namespace dlbench::results
