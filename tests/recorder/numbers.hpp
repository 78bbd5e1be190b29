#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "trace.hpp"

namespace dlbench::recorder {

/// What a process calls its handles and addresses, as numbers in the order of their appearance, so
/// that traces of two processes can be compared: "h3" was stored by a recorded function, "h3+64"
/// lies in that block, "p1" comes from elsewhere. Small ones are written as they are: 1 and 2 name
/// streams, and so does -1.
class Numbers {
 public:
  /// `takes_memory`: it may also be an address of the program's own, where a freed block was.
  void write(Line& line, std::uint64_t value, bool takes_memory = false) {
    constexpr std::uint64_t small = 4096;
    if (value == 0) return line.raw("null");
    if (value < small || ~value < small) return line.number(static_cast<std::int64_t>(value));
    const auto known = handles_.find(value);
    if (known != handles_.end() && !(takes_memory && freed_.contains(value)))
      return name(line, 'h', known->second, 0);
    if (auto block = blocks_.upper_bound(value); block != blocks_.begin()) {
      --block;
      const std::uint64_t offset = value - block->first;
      if (offset < block->second) return name(line, 'h', handles_.at(block->first), offset);
    }
    name(line, 'p', foreign_.try_emplace(value, foreign_.size() + 1).first->second, 0);
  }

  /// A handle that a function stored; a fresh number where the function makes new ones.
  void store(std::uint64_t value, bool is_new) {
    if (value == 0) return;
    freed_.erase(value);
    const auto [known, added] = handles_.try_emplace(value, last_ + 1);
    if (is_new) {
      known->second = last_ + 1;
      blocks_.erase(value);
    }
    if (added || is_new) ++last_;
  }

  /// Its number stays, for later uses.
  void free(std::uint64_t value) {
    blocks_.erase(value);
    freed_.insert(value);
  }

  void store_block(std::uint64_t begin, std::uint64_t bytes) {
    if (begin == 0 || bytes == 0) return;
    // A new block lies where freed ones were.
    auto old = blocks_.lower_bound(begin);
    while (old != blocks_.end() && old->first < begin + bytes) old = blocks_.erase(old);
    blocks_[begin] = bytes;
  }

 private:
  static void name(Line& line, char kind, std::uint64_t number, std::uint64_t offset) {
    std::string text(1, kind);
    text += std::to_string(number);
    if (offset != 0) text.append("+").append(std::to_string(offset));
    line.string(text);
  }

  std::unordered_map<std::uint64_t, std::uint64_t> handles_;
  std::map<std::uint64_t, std::uint64_t> blocks_;
  std::unordered_set<std::uint64_t> freed_;
  std::unordered_map<std::uint64_t, std::uint64_t> foreign_;
  std::uint64_t last_ = 0;
};

/// What of a process is recorded; all of it under one lock.
struct Process {
  File file;
  Numbers numbers;
  /// Functions of the driver that are the delay kernel.
  std::unordered_set<std::uint64_t> delays;
  std::unordered_set<std::string> unrecorded;
  std::unordered_map<long, int> threads;
  std::int64_t begin = 0;
  std::uint64_t left = 0;
  bool full = false;
};

}  // namespace dlbench::recorder
