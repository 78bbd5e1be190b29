#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "exchange/layout.hpp"
#include "exchange/read.hpp"

namespace {

using namespace dlbench::exchange;

constexpr int kDescriptions = 100'000;

/// Descriptions at the edges of what can be written down.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  bool often() { return below(8) != 0; }

  std::int64_t number() {
    constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
    constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
    constexpr std::array<std::int64_t, 16> kEdges{
        0,    1,        2,        3,    -1,       -2,           8,         64,
        kMin, kMin + 1, kMin / 2, kMax, kMax / 2, kMax / 4 + 1, 1LL << 31, 1LL << 62};
    if (often()) return static_cast<std::int64_t>(below(5));
    if (below(4) == 0) return static_cast<std::int64_t>(random_());
    return kEdges.at(below(kEdges.size()));
  }
  std::int32_t dimensions() {
    constexpr std::array<std::int32_t, 6> kEdges{-1,
                                                 64,
                                                 65,
                                                 std::numeric_limits<std::int32_t>::max(),
                                                 std::numeric_limits<std::int32_t>::min(),
                                                 -1000};
    return often() ? static_cast<std::int32_t>(below(5)) : kEdges.at(below(kEdges.size()));
  }
  std::uintptr_t address() {
    constexpr auto kLast = std::numeric_limits<std::uintptr_t>::max();
    constexpr std::array<std::uintptr_t, 5> kEdges{0, 1, 4096, kLast, kLast - 8};
    return often() ? std::uintptr_t{0x7000'0000'0000} : kEdges.at(below(kEdges.size()));
  }
  /// As many as the longest shape that a reader may look at.
  std::vector<std::int64_t> numbers() {
    std::vector<std::int64_t> values(kMostDimensions);
    std::generate(values.begin(), values.end(), [this] { return number(); });
    return values;
  }
  std::vector<std::int64_t> some_numbers() {
    std::vector<std::int64_t> values = numbers();
    values.resize(often() ? below(4) : below(70));
    return values;
  }
  std::string text(const std::vector<std::string>& good) {
    if (often()) return good.at(below(good.size()));
    std::string garbage(below(6), ' ');
    for (char& c : garbage) c = static_cast<char>(below(256));
    return garbage;
  }

 private:
  std::mt19937_64 random_;
};

/// All that the other functions rely on, computed in floating point, which does not overflow.
void expect_sound(const View& view) {
  ASSERT_EQ(view.shape.size(), view.strides.size());
  ASSERT_LE(view.shape.size(), 64U);
  ASSERT_GT(view.element_bytes(), 0);
  double elements = 1;
  double low = 0;
  double high = static_cast<double>(view.element_bytes());
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    ASSERT_GE(view.shape[d], 0);
    elements *= static_cast<double>(view.shape[d]);
    const double span =
        static_cast<double>(view.shape[d] - 1) * static_cast<double>(view.strides[d]);
    (span < 0 ? low : high) += span;
  }
  ASSERT_NEAR(static_cast<double>(view.elements()), elements, elements * 1e-12);
  if (elements == 0) return;
  ASSERT_NE(view.address, 0U);
  ASSERT_LE(static_cast<double>(view.bytes()), 0x1p63);
  ASSERT_GE(static_cast<double>(view.address) + low, 0);
  ASSERT_LE(static_cast<double>(view.address) + high, 0x1p64);
}

/// Reads all descriptions that `make` comes up with; both ends must come up often enough for the
/// test to say something.
template <typename Make>
void feed(std::uint64_t seed, Make make) {
  Generator generator(seed);
  int views = 0;
  for (int i = 0; i < kDescriptions; ++i) {
    try {
      const View view = make(generator);
      ++views;
      expect_sound(view);
      if (testing::Test::HasFatalFailure()) return;
    } catch (const ViewError& error) {
      const std::string text = error.what();
      ASSERT_FALSE(text.empty());
      ASSERT_EQ(text.find('\n'), std::string::npos);
    }
  }
  EXPECT_GT(views, kDescriptions / 50);
  EXPECT_LT(views, kDescriptions * 49 / 50);
}

DLTensor tensor(Generator& g, std::vector<std::int64_t>& shape,
                std::vector<std::int64_t>& strides) {
  shape = g.numbers();
  strides = g.numbers();
  constexpr std::array<std::uint8_t, 6> kBits{8, 16, 32, 64, 128, 255};
  DLTensor made{};
  made.data = memory_at(g.address());
  made.device = {static_cast<DLDeviceType>(g.often() ? 1 : g.number()), 0};
  made.ndim = g.dimensions();
  made.dtype = {static_cast<std::uint8_t>(g.often() ? g.below(18) : g.below(256)),
                static_cast<std::uint8_t>(g.often() ? kBits.at(g.below(6)) : g.below(256)),
                static_cast<std::uint16_t>(g.often() ? 1 : g.below(65536))};
  made.shape = g.often() ? shape.data() : nullptr;
  made.strides = g.often() ? strides.data() : nullptr;
  made.byte_offset = g.often() ? g.below(64) : static_cast<std::uint64_t>(g.number());
  return made;
}

TEST(Malformed, Tensors) {
  feed(1, [](Generator& g) {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    return read(tensor(g, shape, strides));
  });
}

TEST(Malformed, ManagedTensors) {
  feed(2, [](Generator& g) {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    return read(DLManagedTensor{tensor(g, shape, strides), nullptr, nullptr});
  });
}

TEST(Malformed, VersionedTensors) {
  feed(3, [](Generator& g) {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> strides;
    const auto major = static_cast<std::uint32_t>(g.often() ? 1 : g.number());
    const auto flags = static_cast<std::uint64_t>(g.number());
    return read(
        DLManagedTensorVersioned{{major, 0}, nullptr, nullptr, flags, tensor(g, shape, strides)});
  });
}

TEST(Malformed, Buffers) {
  feed(4, [](Generator& g) {
    const std::vector<std::int64_t> shape = g.some_numbers();
    std::vector<std::int64_t> strides = g.some_numbers();
    if (g.often()) strides.resize(shape.size(), 4);
    const std::string format = g.text({"f", "<f", "@i", "=I", ">f", "d", "?", "Zf", "g"});
    const std::int64_t itemsize = g.often() ? 4 : g.number();
    std::int64_t length = itemsize;
    for (const std::int64_t extent : shape) {
      if (__builtin_mul_overflow(length, extent, &length)) length = g.number();
    }
    return read(BufferFacts{g.address(), g.often() ? length : g.number(), itemsize, format, shape,
                            strides, g.often()});
  });
}

TEST(Malformed, Interfaces) {
  feed(5, [](Generator& g) {
    const std::vector<std::int64_t> shape = g.some_numbers();
    std::vector<std::int64_t> strides = g.some_numbers();
    if (g.often()) strides.resize(shape.size(), 4);
    const std::string typestr = g.text({"<f4", "|b1", "<c16", ">i8", "<V2", "<f99", "|u1"});
    InterfaceFacts facts{
        .address = g.address(), .typestr = typestr, .shape = shape, .strides = std::nullopt};
    if (g.often()) facts.strides = strides;
    facts.device_type = static_cast<std::int32_t>(g.number());
    return read(facts);
  });
}

TEST(Malformed, ArrayStructs) {
  feed(6, [](Generator& g) {
    const std::vector<std::int64_t> extents = g.numbers();
    const std::vector<std::int64_t> steps = g.numbers();
    std::vector<std::intptr_t> shape(extents.begin(), extents.end());
    std::vector<std::intptr_t> strides(steps.begin(), steps.end());
    constexpr std::array<char, 7> kKinds{'f', 'i', 'u', 'c', 'b', 'V', 'O'};
    return read(ArrayStruct{
        g.often() ? 2 : static_cast<int>(g.number()), g.dimensions(),
        kKinds.at(g.below(kKinds.size())), g.often() ? 8 : static_cast<int>(g.number()),
        g.often() ? 0x600 : static_cast<int>(g.number()), g.often() ? shape.data() : nullptr,
        g.often() ? strides.data() : nullptr, memory_at(g.address()), nullptr});
  });
}

TEST(Malformed, NoElementLiesAtNull) {
  const std::vector<std::int64_t> shape{2};
  const std::vector<std::int64_t> strides{-8};
  const auto at = [&](std::uintptr_t address) {
    return read(
        InterfaceFacts{.address = address, .typestr = "<f4", .shape = shape, .strides = strides});
  };
  EXPECT_THROW(at(8), ViewError);
  EXPECT_EQ(at(12).address, 12U);
}

}  // namespace
