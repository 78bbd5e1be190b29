#include "results/blocks.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <utility>

namespace dlbench::results {
namespace {

/// Small enough to stay in a core's own cache, large enough that reading it costs no call a line.
constexpr std::size_t kBlock = std::size_t{1} << 18;

}  // namespace

Blocks::Blocks(std::string& text) : text_(&text) {
  rest_ = text;
}

Blocks::Blocks(const std::filesystem::path& path, std::uintmax_t most) : path_(path) {
  left_ = open_file(path, most, file_);
}

bool Blocks::show(char* begin, std::size_t size) {
  before_ += static_cast<std::size_t>(end_ - begin_);
  begin_ = begin;
  end_ = begin + size;
  return size > 0;
}

Blocks::Buffer Blocks::fresh(std::size_t least) {
  if (!spare_.empty() && spare_.back().size >= least) {
    Buffer buffer = std::move(spare_.back());
    spare_.pop_back();
    return buffer;
  }
  return {std::make_unique_for_overwrite<char[]>(least + 1), least};
}

bool Blocks::next() {
  if (is_last()) return false;
  if (stays()) {
    rest_ = {};
    return show(text_->data(), text_->size());
  }
  Buffer made = fresh(std::max(kBlock, 2 * rest_.size()));
  rest_.copy(made.bytes.get(), rest_.size());
  std::size_t size = rest_.size(), line = 0;
  while (line == 0 && left_ > 0) {
    if (size == made.size) {
      Buffer larger = fresh(2 * made.size);
      std::memcpy(larger.bytes.get(), made.bytes.get(), size);
      made = std::move(larger);
    }
    const std::size_t wanted = std::min<std::uintmax_t>(made.size - size, left_);
    const std::size_t got = read_some(file_, made.bytes.get() + size, wanted, path_);
    left_ = got == 0 ? 0 : left_ - got;
    line = std::string_view(made.bytes.get() + size, got).rfind('\n') + 1;
    line = line == 0 ? 0 : line + size;
    size += got;
  }
  made.bytes[size] = '\0';
  const std::size_t ends = left_ > 0 ? line : size;
  former_.push_back(std::exchange(at_hand_, std::move(made)));
  rest_ = {at_hand_.bytes.get() + ends, size - ends};
  return show(at_hand_.bytes.get(), ends);
}

void Blocks::give_up_former() {
  for (Buffer& each : former_) {
    if (each.size == kBlock) spare_.push_back(std::move(each));
  }
  former_.clear();
}

}  // namespace dlbench::results
