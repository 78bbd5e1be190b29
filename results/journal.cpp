#include "results/journal.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

#include "model/error.hpp"

namespace dlbench::results {
namespace {

OrderedJson header_line(const Header& header) {
  return {{"dlbench_journal", 1}, {"fingerprint", header.fingerprint}, {"context", header.context}};
}

std::string line_of(const OrderedJson& value) {
  require_finite(value);
  // Output of a library may not be UTF-8, or hold what a terminal interprets.
  return value.dump(-1, ' ', true, OrderedJson::error_handler_t::replace) + "\n";
}

/// Locks the journal, because two writers would measure the same cells and mix their lines.
void lock(const File& file, const std::filesystem::path& path) {
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return;
  if (errno == EWOULDBLOCK) throw UsageError(path.string() + ": another run is writing to it");
}

[[noreturn]] void refuse_existing(const std::filesystem::path& path) {
  throw UsageError(path.string() +
                   " exists: the folder contains another run; continue it with --resume, or choose "
                   "another folder");
}

/// Renames unless a file has the new name. Returns 0 or the errno.
int rename_new(const std::filesystem::path& from, const std::filesystem::path& to) {
#ifdef RENAME_NOREPLACE
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  // Not every file system supports RENAME_NOREPLACE.
  if (errno != EINVAL && errno != ENOSYS) return errno;
#endif
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

Journal::Journal(std::filesystem::path path, File file, std::uint64_t bytes)
    : path_(std::move(path)), file_(std::move(file)), bytes_(bytes) {}

Journal Journal::create(std::filesystem::path path, const Header& header) {
  if (::access(path.c_str(), F_OK) == 0) refuse_existing(path);
  // The file gets its name only after its header is written, so that a killed process leaves no
  // journal without a header.
  Draft draft;
  if (const int error = create_draft(path, O_APPEND, draft)) {
    if (error == ENOSPC || error == EDQUOT) throw DiskError(os_text("make", path, error));
    throw UsageError(os_text("make", path, error));
  }
  Journal journal(std::move(path), std::move(draft.file), 0);
  try {
    journal.append(header_line(header));
    if (const int error = rename_new(draft.path, journal.path_)) {
      if (error == EEXIST) refuse_existing(journal.path_);
      throw UsageError(os_text("make", journal.path_, error));
    }
  } catch (...) {
    ::unlink(draft.path.c_str());
    throw;
  }
  return journal;
}

Journal Journal::resume(std::filesystem::path path, const Header& header,
                        JournalContents* contents) {
  File file(::open(path.c_str(), O_RDWR | O_APPEND | O_NOFOLLOW | O_CLOEXEC));
  // A folder from elsewhere may hold a link to any file here.
  if (!file && errno == ELOOP) throw UsageError(path.string() + ": is a link; allowed: a file");
  if (!file) throw UsageError(os_text("resume", path, errno));
  lock(file, path);
  JournalContents found = read_journal(path);
  const bool has_header = found.whole_bytes > 0;
  if (has_header) require_same_run(found.header, header);
  if (::ftruncate(file.get(), static_cast<off_t>(found.whole_bytes)) != 0) {
    throw DiskError(os_text("write", path, errno));
  }
  Journal journal(std::move(path), std::move(file), found.whole_bytes);
  if (!has_header) {
    journal.append(header_line(header));
    found.header = header;
  }
  if (contents != nullptr) *contents = std::move(found);
  return journal;
}

void Journal::append(const OrderedJson& line) {
  const std::string bytes = line_of(line);
  if (const int error = write_all(file_.get(), bytes)) {
    // Truncating a file needs no disk space. If it fails, readers skip the torn line.
    [[maybe_unused]] const int cut = ::ftruncate(file_.get(), static_cast<off_t>(bytes_));
    throw DiskError(os_text("write", path_, error));
  }
  bytes_ += bytes.size();
}

void append_behind(const std::filesystem::path& run_directory,
                   const std::vector<std::string>& cells, const std::vector<OrderedJson>& lines) {
  const std::filesystem::path path = run_directory / "journal.jsonl";
  const JournalContents before = read_journal(path);
  if (before.whole_bytes == 0) {
    throw UsageError(path.string() + ": the journal is empty, so the run did not start");
  }
  std::unordered_set<std::string> measured;
  for (const Entry& entry : before.entries) {
    if (is_timed(entry)) measured.insert(name(entry.cell));
  }
  for (const std::string& cell : cells) {
    if (!measured.contains(cell)) throw UsageError(cell + " was not measured");
  }
  Journal journal = Journal::resume(path, before.header);
  for (const OrderedJson& line : lines) journal.append(line);
}

}  // namespace dlbench::results
