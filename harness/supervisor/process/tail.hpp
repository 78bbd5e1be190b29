#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace dlbench::supervisor {

/// Keeps the last bytes of a stream.
class Tail {
 public:
  explicit Tail(std::size_t most = std::size_t{64} << 10) : most_(most) {}

  void append(std::string_view text) {
    if (text.size() >= most_) {
      kept_.assign(text.substr(text.size() - most_));
      return;
    }
    // Cut rarely, so that endless output costs one move for each `most_` bytes.
    if (kept_.size() + text.size() > 2 * most_) kept_.erase(0, kept_.size() - most_);
    kept_ += text;
  }

  std::string_view text() const {
    return std::string_view(kept_).substr(kept_.size() > most_ ? kept_.size() - most_ : 0);
  }

  /// The last `lines` lines, without the newline at the end.
  std::string last_lines(std::size_t lines) const {
    std::string_view all = text();
    while (!all.empty() && all.back() == '\n') all.remove_suffix(1);
    std::size_t begin = all.size();
    while (begin > 0) {
      if (all[begin - 1] == '\n' && --lines == 0) break;
      --begin;
    }
    return std::string(all.substr(begin));
  }

 private:
  std::size_t most_;
  std::string kept_;
};

}  // namespace dlbench::supervisor
