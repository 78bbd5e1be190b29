#include <fcntl.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/vfs.h>

#include <fstream>

#include "fixture.hpp"
#include "results/file.hpp"

namespace dlbench::supervisor {
namespace {

/// Two environments with one library each, of which the producer maps this file as code.
struct TwoEnvironments : FleetTest {
  TwoEnvironments() {
    options_.replicas = 3;
    options_.jobs = 4;
    options_.evict = true;
    options_.pythons = {{"base", "python3"}, {"head", "python3"}};
    axes_.environments = {"base", "head"};
  }

  void SetUp() override {
    struct statfs system {};
    ASSERT_EQ(::statfs(folder_.c_str(), &system), 0);
    if (system.f_type == TMPFS_MAGIC) GTEST_SKIP() << "files in memory cannot be evicted";
  }

  std::string code(const std::string& name) const {
    std::ofstream(folder_ / name) << std::string(kBytes, 'x');
    return file(name);
  }

  void run_producers(const std::string& base, const std::string& head) {
    plan::Library one = library("a", base), other = library("a", head);
    one.environment = "base";
    other.environment = "head";
    run({one, other});
    EXPECT_EQ(summary_.measured, 2U);
    std::filesystem::remove(folder_ / "journal.jsonl");
  }

  void run_mapping(const std::string& base, const std::string& head) {
    run_producers("load=map:" + base, "load=map:" + head);
  }

  /// The environments in the order in which they were measured.
  std::vector<std::string> order() const {
    std::vector<std::string> found;
    for (const auto& worker : contents_.workers) found.push_back(worker.environment);
    return found;
  }

  /// Pages that were in the page cache before each worker mapped the file.
  using Pages = std::vector<std::string>;
  Pages cached(const std::string& name) const { return lines(name + ".log"); }

  std::vector<std::string> kept() const {
    std::vector<std::string> environments;
    for (const Entry& entry : contents_.entries) {
      for (const Warning& warning : entry.warnings) {
        if (warning.code == "code-not-evicted") {
          environments.push_back(entry.cell.exchange.environment);
        }
      }
    }
    return environments;
  }

  static constexpr std::size_t kBytes = std::size_t{64} << 10;
};

TEST_F(TwoEnvironments, EachReplicaHasOtherPagesOfTheCode) {
  run_mapping(code("one"), code("two"));
  const Pages evicted{"16", "0", "0"};
  EXPECT_EQ(cached("one"), evicted);
  EXPECT_EQ(cached("two"), evicted);
  EXPECT_EQ(kept(), std::vector<std::string>{});
  // The next run begins with other pages, too.
  run_mapping(file("one"), file("two"));
  EXPECT_EQ(cached("one"), (Pages{"16", "0", "0", "0", "0", "0"}));
}

TEST_F(TwoEnvironments, NothingIsEvictedUnlessRequested) {
  options_.evict = false;
  run_mapping(code("one"), code("two"));
  EXPECT_EQ(cached("one"), (Pages{"16", "16", "16"}));
}

TEST_F(TwoEnvironments, CodeThatAnotherProcessUsesIsReportedUnlessItIsCommon) {
  const results::File file(::open(code("one").c_str(), O_RDONLY));
  void* used = ::mmap(nullptr, kBytes, PROT_READ, MAP_SHARED | MAP_POPULATE, file.get(), 0);
  ASSERT_NE(used, MAP_FAILED);
  run_mapping(this->file("one"), code("two"));
  EXPECT_EQ(kept(), std::vector<std::string>{"base"});
  EXPECT_EQ(cached("one"), (Pages{"16", "16", "16"}));
  // A hard link has the same pages: both sides use them alike.
  std::filesystem::create_hard_link(folder_ / "one", folder_ / "link");
  run_mapping(this->file("one"), this->file("link"));
  EXPECT_EQ(kept(), std::vector<std::string>{});
  ::munmap(used, kBytes);
}

/// A periodic load must not hit the same environment in each replica.
TEST_F(TwoEnvironments, TheOrderOfEnvironmentsIsRandomBySeed) {
  options_.replicas = 8;
  std::set<std::string> firsts;
  run_producers("good", "good");
  const std::vector<std::string> first = order();
  ASSERT_EQ(first.size(), 16U);
  for (std::size_t i = 0; i < first.size(); i += 2) {
    EXPECT_NE(first[i], first[i + 1]);  // both sides once in each replica
    firsts.insert(first[i]);
  }
  EXPECT_EQ(firsts.size(), 2U);
  run_producers("good", "good");
  EXPECT_EQ(order(), first);
}

}  // namespace
}  // namespace dlbench::supervisor
