#include "trace/range.hpp"

#include <array>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "trace/nvtx.hpp"
#include "trace/recorder.hpp"
#include "trace/roctx.hpp"

namespace dlbench::trace {
namespace {

constexpr std::array<std::string_view, 10> kCategories{"cell",   "exchange", "phases",  "query",
                                                       "export", "import",   "release", "ready",
                                                       "sync",   "worker"};

}  // namespace

std::string_view name_of(Category category) noexcept {
  return kCategories[static_cast<std::uint32_t>(category) - 1];
}

Category category_of(std::string_view phase) noexcept {
  for (std::uint32_t i = 0; i < kCategories.size(); ++i) {
    if (kCategories[i] == phase) return static_cast<Category>(i + 1);
  }
  return Category::phases;
}

Name::Name(std::string_view text, Category category)
    : text_(text), category_(category), handle_(nvtx::registered(text_.c_str())) {}

const Name& named(std::string_view text, Category category) {
  static std::mutex mutex;
  static std::map<std::pair<std::string, Category>, std::unique_ptr<const Name>> names;
  const std::lock_guard lock(mutex);
  std::unique_ptr<const Name>& name = names[{std::string(text), category}];
  if (!name) {
    nvtx::attach();
    name.reset(new Name(text, category));
  }
  return *name;
}

void Range::begin(const Name& name, std::uint64_t bytes) {
  name_ = &name;
  bytes_ = bytes;
  if ((sinks_ & detail::kNvtx) != 0) nvtx::push(name, bytes);
  if ((sinks_ & detail::kRoctx) != 0) roctx::push(name, bytes);
  if ((sinks_ & detail::kRecorder) != 0) begin_ns_ = now_ns();
}

void Range::end() {
  // Record first, so that the range does not include the time of the other sinks.
  if ((sinks_ & detail::kRecorder) != 0) record({name_, bytes_, begin_ns_, now_ns(), thread_id()});
  if ((sinks_ & detail::kRoctx) != 0) roctx::pop();
  if ((sinks_ & detail::kNvtx) != 0) nvtx::pop();
}

}  // namespace dlbench::trace
