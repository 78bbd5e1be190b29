#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "model/cell.hpp"
#include "random.hpp"
#include "results/comparison/compare.hpp"
#include "results/document.hpp"
#include "sample.hpp"

namespace dlbench::results::testing {

/// An exchange in so many workers that scatter by 1 %.
inline Entry in_workers(Entry entry, std::size_t workers, std::uint64_t seed, double factor = 1) {
  stats::Random random(seed);
  entry.workers.clear();
  for (std::size_t i = 0; i < workers; ++i) {
    const double ns = entry.median_ns * factor * std::exp(0.01 * random.normal());
    entry.workers.push_back({ns, 5000, {ns * 0.999, ns, ns * 1.001}});
  }
  return entry;
}

class Compare : public ::testing::Test {
 protected:
  std::filesystem::path write(const char* name, std::vector<Entry> entries,
                              const std::function<void(nlohmann::json&)>& change = {},
                              double reference_ns = 60) {
    JournalContents contents = run();
    contents.entries = std::move(entries);
    contents.workers = {worker(reference_ns), worker(reference_ns * 1.01),
                        worker(reference_ns * 0.99)};
    if (change) change(contents.header.context);
    std::filesystem::path path = folder_ / name;
    write_document(std::move(contents), path);
    return path;
  }

  Comparison compare(const std::filesystem::path& base, const std::filesystem::path& head,
                     CompareOptions options = {}) {
    return results::compare({{base}, ""}, {{head}, ""}, options);
  }

  static const ComparedCell& cell(const Comparison& made, const std::string& consumer) {
    const auto found =
        std::find_if(made.cells.begin(), made.cells.end(), [&](const ComparedCell& each) {
          return cell_from_name(each.name).exchange.consumer == consumer;
        });
    EXPECT_NE(found, made.cells.end()) << consumer;
    return *found;
  }

  TemporaryFolder folder_;
};

}  // namespace dlbench::results::testing
