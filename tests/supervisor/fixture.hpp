#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "results/journal.hpp"
#include "supervisor/plan/plan.hpp"
#include "supervisor/supervisor.hpp"

namespace dlbench::supervisor {

/// Long enough never to be met by a healthy worker, however busy the machine.
inline constexpr double kLong = 60;
/// For workers that hang for ever: any value ends them; a healthy start must fit in.
inline constexpr double kShort = 4;

inline plan::Library library(const std::string& name, const std::string& producer = "good",
                             const std::string& consumer = "good") {
  plan::Library made;
  made.name = name;
  made.installed = true;
  made.version = "1.0";
  made.producer_path = producer;
  made.consumer_path = consumer;
  made.protocols = {"dlpack"};
  return made;
}

class Watcher : public Observer {
 public:
  void progress(std::size_t, std::size_t, const std::string& activity) override {
    activities.insert(activity);
    if (on_progress) on_progress(activity);
  }
  void recorded(const Entry& entry) override {
    names.push_back(name(entry.cell));
    if (on_recorded) on_recorded();
  }
  void covered() override { names_when_covered.push_back(names.size()); }
  std::function<void(const std::string&)> on_progress;
  std::function<void()> on_recorded;
  std::vector<std::string> names;
  std::set<std::string> activities;
  std::vector<std::size_t> names_when_covered;  ///< cells recorded by then, once for each call
};

/// Runs plans with the fake worker in a folder of its own, and reads what the journal says.
class FleetTest : public ::testing::Test {
 protected:
  FleetTest() {
    std::string pattern =
        (std::filesystem::temp_directory_path() / "supervisor_test_XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    options_.out = folder_;
    options_.pythons = {{"default", "python3"}};
    // Ninja compiles with paths from the build folder, which holds this program.
    const auto build = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    const std::filesystem::path tests = std::filesystem::path(__FILE__).parent_path();
    options_.worker_main = (build / tests / "fake_worker.py").string();
    options_.timeout_s = kLong;
    options_.jobs = 2;
    options_.replicas = 1;
    options_.precision = 0.02;
    options_.context = R"({"dlbench":{"version":"0"}})";
    axes_.sizes = {4096};
    axes_.protocols = {"dlpack"};
  }

  ~FleetTest() override {
    for (const char* name : kVariables) ::unsetenv(name);
    std::filesystem::remove_all(folder_);
  }

  void set(const char* variable, const std::string& value) { ::setenv(variable, value.c_str(), 1); }

  std::string file(const std::string& name) const { return (folder_ / name).string(); }

  std::vector<std::string> lines(const std::string& name) const {
    std::vector<std::string> all;
    std::ifstream stream(folder_ / name);
    for (std::string line; std::getline(stream, line);) all.push_back(line);
    return all;
  }

  /// Lines of the journal so far.
  std::size_t contents_of_journal() const { return lines("journal.jsonl").size(); }

  void run(const std::vector<plan::Library>& libraries) {
    plan_ = plan::make(libraries, axes_);
    summary_ = supervisor::run(plan_, options_, watcher_);
    read();
  }

  void read() {
    contents_ = results::read_journal(folder_ / "journal.jsonl");
    entries_.clear();
    for (const Entry& entry : contents_.entries) {
      // Without what is the same in most tests.
      const Exchange& x = entry.cell.exchange;
      std::string key = x.producer + ">" + x.consumer;
      if (x.bytes != axes_.sizes.front()) key += ":" + std::to_string(x.bytes);
      if (x.case_name != "f32") key += " " + x.case_name;
      if (entry.cell.clock != "call") key += "/" + entry.cell.clock;
      entries_[key] = entry;
    }
  }

  Outcome outcome(const std::string& key) const { return entries_.at(key).outcome; }
  const std::string& reason(const std::string& key) const { return entries_.at(key).reason; }

  std::set<std::string> with(Outcome wanted) const {
    std::set<std::string> keys;
    for (const auto& [key, entry] : entries_) {
      if (entry.outcome == wanted) keys.insert(key);
    }
    return keys;
  }

  static constexpr const char* kVariables[] = {"FAKE_WORKER_START", "FAKE_WORKER_BUILD",
                                               "FAKE_WORKER_LOG", "FAKE_WORKER_PIDS",
                                               "FAKE_WORKER_CONTEXTS"};
  std::filesystem::path folder_;
  plan::Axes axes_;
  plan::Plan plan_;
  Options options_;
  Watcher watcher_;
  Summary summary_;
  results::JournalContents contents_;
  std::map<std::string, Entry> entries_;
};

}  // namespace dlbench::supervisor
