#pragma once

#include <sys/resource.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "model/error.hpp"
#include "results/document.hpp"

namespace dlbench::results {
inline constexpr auto npos = std::string::npos;
}

namespace dlbench::results::testing {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "results-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path operator/(const char* name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// A disk that is full after so many bytes of one file.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit limit{bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  FileSizeLimit(const FileSizeLimit&) = delete;
  FileSizeLimit& operator=(const FileSizeLimit&) = delete;
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }

 private:
  rlimit before_{};
  void (*handler_)(int);
};

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void write_text(const std::filesystem::path& path, std::string_view text) {
  std::ofstream(path, std::ios::binary) << text;
}

inline std::size_t files_in(const std::filesystem::path& folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(folder),
                                                std::filesystem::directory_iterator()));
}

/// The text of the UsageError that the call throws; empty where it throws none.
template <class Call>
std::string usage_error(Call&& call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return {};
}

inline Entry measured(const std::string& producer, const std::string& consumer,
                      double median_ns = 1000) {
  Entry entry;
  entry.cell.exchange.producer = producer;
  entry.cell.exchange.consumer = consumer;
  entry.cell.exchange.protocol = "dlpack";
  entry.outcome = Outcome::zero_copy;
  entry.median_ns = median_ns;
  entry.lo_ns = median_ns * 0.99;
  entry.hi_ns = median_ns * 1.02;
  entry.mad_ns = 3.5;
  entry.cpu_ns = median_ns * 0.998;
  entry.iterations = 1000;
  entry.floor_ratio = 47.5;
  entry.evidence = {Proof::yes, Proof::skipped, Proof::yes, Proof::skipped};
  entry.observed = {"dlpack", "direct", {"__dlpack__(max_version=(1, 0))"}, "versioned",
                    {1, 0},   {},       GuardCounts{255, 0, 0, 0, {}}};
  entry.workers = {{median_ns, 52000, {median_ns * 0.99, median_ns, median_ns * 1.02}}};
  return entry;
}

inline Entry refused(const std::string& producer, const std::string& consumer) {
  Entry entry;
  entry.cell.exchange.producer = producer;
  entry.cell.exchange.consumer = consumer;
  entry.cell.exchange.protocol = "dlpack";
  entry.outcome = Outcome::refused;
  entry.exception = "BufferError";
  entry.reason = "no";
  return entry;
}

inline WorkerRecord worker(double reference_ns, double call_ns = 20) {
  WorkerRecord record;
  record.imports = {"numpy", "torch"};
  record.python = "3.11.7";
  record.floors_ns = {{"empty", 0.25}, {"call", call_ns}};
  record.copy_floors_bytes = {{"cuda:0", 16 << 20}};
  record.context_flags = {{"cuda:0", "spin"}};
  record.reference_ns = reference_ns;
  record.libraries = {{"numpy", "2.4.6"}};
  record.import_s = 1.5;
  return record;
}

inline Header header() {
  return {"0123456789abcdef",
          {{"date", "2026-01-02T03:04:05+00:00"},
           {"host_name", "here"},
           {"num_cpus", 2},
           {"mhz_per_cpu", 2596},
           {"caches", {{{"type", "Data"}, {"level", 1}, {"size", 32768}, {"num_sharing", 2}}}},
           {"json_schema_version", 1},
           {"library_build_type", "release"},
           {"dlbench",
            {{"version", "0.1.0"},
             {"machine", {{"cpu", "A CPU"}, {"cores", 2}, {"architecture", "x86_64"}}},
             {"environments",
              {{"default", {{"python", "3.11.7"}, {"libraries", {{"numpy", "2.4.6"}}}}}}}}}}};
}

/// A small run: two cells measured, one refused, two workers.
inline JournalContents run() {
  JournalContents contents;
  contents.header = header();
  contents.entries = {measured("torch", "numpy", 1700), refused("cupy", "numpy"),
                      measured("numpy", "torch", 1000)};
  contents.workers = {worker(60), worker(66)};
  contents.ends = {{61.5, 40.25, 0}};
  return contents;
}

}  // namespace dlbench::results::testing
