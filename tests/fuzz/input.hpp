#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <span>
#include <string>
#include <string_view>

namespace dlbench::fuzz {

/// The fuzzer's bytes as decisions. When they run out, everything is 0.
class Input {
 public:
  explicit Input(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool is_empty() const { return at_ >= bytes_.size(); }

  std::uint8_t byte() { return is_empty() ? std::uint8_t{0} : bytes_[at_++]; }

  std::uint64_t word() {
    std::uint64_t value = 0;
    for (int i = 0; i < 8; ++i) value = value << 8 | byte();
    return value;
  }

  std::uint64_t below(std::uint64_t end) {
    if (end == 0) return 0;
    const std::uint64_t high = byte();
    return (high << 8 | byte()) % end;
  }

  /// The usual thing, seven times of eight.
  bool usual() { return byte() % 8 != 7; }

  /// Small, at an edge, or anything.
  std::int64_t number() {
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    constexpr std::int64_t kEdges[] = {0,         1,         -1,        2,    -2,       8,
                                       kMin,      kMin + 1,  kMin / 2,  kMax, kMax - 1, kMax / 2,
                                       1LL << 31, 1LL << 32, 1LL << 62, 64};
    const std::uint8_t how = byte() % 16;
    if (how < 12) return static_cast<std::int64_t>(byte() % 6);
    if (how < 15) return kEdges[byte() % std::size(kEdges)];
    return static_cast<std::int64_t>(word());
  }

  std::string text(std::span<const std::string_view> known) {
    std::string made(known[below(known.size())]);
    if (usual()) return made;
    for (std::uint64_t changes = below(4) + 1; changes > 0; --changes) {
      const std::size_t place = below(made.size() + 1);
      if (byte() % 2 == 0 || place >= made.size())
        made.insert(place, 1, static_cast<char>(byte()));
      else
        made[place] = static_cast<char>(byte());
    }
    return made;
  }

 private:
  std::span<const std::uint8_t> bytes_;
  std::size_t at_ = 0;
};

/// Ends the process as a sanitizer would: the driver and libFuzzer then tell the input.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "fuzz: %s\n", what);
  std::abort();
}

/// One line a person can read.
inline void require_text(std::string_view text) {
  if (text.find('\n') != std::string_view::npos)
    std::fprintf(stderr, "fuzz: %.*s\n", static_cast<int>(text.size()), text.data());
  require(!text.empty() && text.find('\n') == std::string_view::npos, "an error is one line");
  require(text.size() < 4000, "an error is a short line");
}

}  // namespace dlbench::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
