#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "results/file.hpp"

namespace dlbench::results {

/// A text of JSON, block by block, so that a large file is never in memory as a whole. A block ends
/// behind a line's end: no token of JSON holds one, so none lies in two blocks. What was read of
/// former blocks stays where it is until it is given up.
class Blocks {
 public:
  /// A text that is there, as one block.
  explicit Blocks(std::string& text);
  /// A file. Throws UsageError where it cannot be read or is larger than `most` bytes.
  Blocks(const std::filesystem::path& path, std::uintmax_t most);

  Blocks(const Blocks&) = delete;
  Blocks& operator=(const Blocks&) = delete;

  /// Goes on to the next block, at the first time to the first; false where there is none.
  bool next();
  /// Nobody refers to former blocks any more.
  void give_up_former();

  char* begin() const { return begin_; }
  char* end() const { return end_; }              ///< there stands a zero
  std::size_t before() const { return before_; }  ///< bytes of all former blocks
  /// Do blocks stay when they are given up?
  bool stays() const { return text_ != nullptr; }
  bool is_last() const { return left_ == 0 && rest_.empty(); }

 private:
  struct Buffer {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };

  Buffer fresh(std::size_t least);
  bool show(char* begin, std::size_t size);

  std::string* text_ = nullptr;
  std::filesystem::path path_;
  File file_;
  std::uintmax_t left_ = 0;  ///< bytes of the file that were not read
  Buffer at_hand_;
  std::vector<Buffer> former_, spare_;
  std::string_view rest_;  ///< in the block at hand: the begin of a line that goes on
  char nothing_ = '\0';
  char* begin_ = &nothing_;
  char* end_ = &nothing_;
  std::size_t before_ = 0;
};

}  // namespace dlbench::results
