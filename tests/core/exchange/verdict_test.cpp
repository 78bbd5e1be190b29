#include "exchange/verdict.hpp"

#include <dlpack/dlpack.h>
#include <gtest/gtest.h>

#include <array>
#include <cstring>

#include "../model/warnings.hpp"
#include "arrays.hpp"
#include "exchange/restated.hpp"
#include "model/judge.hpp"

namespace {

using namespace dlbench::exchange;
using dlbench::Evidence;
using dlbench::judge;
using dlbench::Outcome;
using dlbench::Proof;
using dlbench::Verdict;
using dlbench::testing::texts_of;
using Words = std::vector<std::string>;

constexpr Proof Y = Proof::yes;
constexpr Proof N = Proof::no;
constexpr Proof S = Proof::skipped;

TEST(Changed, NothingBetweenTwins) {
  const auto a = array<float>("float32", {1, 2});
  EXPECT_EQ(changed(a.view, a.view), Words{});
}

TEST(Restated, PlainBytesAreSeenAsWhatWasExpected) {
  const auto floats = array<float>("float32", {1, 2});
  auto bytes = array<std::uint8_t>("uint8", {0, 0, 128, 63, 0, 0, 0, 64});
  bytes.view.untyped = true;
  const View observed = restated(floats.view, bytes.view);
  EXPECT_EQ(difference(floats.view, observed), "");
  EXPECT_EQ(changed(floats.view, observed), Words{});
  EXPECT_EQ(observed.address, bytes.view.address);
}

TEST(Restated, AllElseStaysWhatItIs) {
  const auto floats = array<float>("float32", {1, 2});
  const auto fewer = array<std::uint8_t>("uint8", {0, 0, 128, 63, 0, 0, 0});
  const auto bools = array<std::uint8_t>("bool", {0, 0, 1, 1, 0, 0, 0, 1});
  const auto bytes = array<std::uint8_t>("uint8", {0, 0, 128, 63, 0, 0, 0, 64});
  View steps = bytes.view;
  steps.shape = {4};
  steps.strides = {2};
  for (const View& found : {fewer.view, bools.view, floats.view, steps}) {
    EXPECT_EQ(restated(floats.view, found), found);
  }
}

TEST(Changed, PlainBytesLoseNoPrecision) {
  const auto wide = array<std::uint32_t>("uint32", {1, 2});
  auto bytes = array<std::uint8_t>("uint8", {1, 0, 0, 0, 2, 0, 0, 0});
  bytes.view.untyped = true;
  EXPECT_EQ(changed(wide.view, bytes.view), Words{"dtype"});
}

Words changed_dtype(const char* from, const char* to) {
  View a;
  View b;
  a.dtype = dtype_from_name(from);
  b.dtype = dtype_from_name(to);
  return changed(a, b);
}

TEST(Changed, FewerBitsOfOneKindArePrecision) {
  EXPECT_EQ(changed_dtype("float64", "float32"), Words{"precision"});
  EXPECT_EQ(changed_dtype("int64", "int32"), Words{"precision"});
  EXPECT_EQ(changed_dtype("complex128", "complex64"), Words{"precision"});
  EXPECT_EQ(changed_dtype("float32", "bfloat16"), Words{"precision"});
  EXPECT_EQ(changed_dtype("float32", "float64"), Words{"dtype"});
  EXPECT_EQ(changed_dtype("int64", "float32"), Words{"dtype"});
  EXPECT_EQ(changed_dtype("int8", "uint8"), Words{"dtype"});
  EXPECT_EQ(changed_dtype("bool", "uint8"), Words{"dtype"});
  EXPECT_EQ(changed_dtype("float16", "bfloat16"), Words{"dtype"});
}

View strided(std::vector<std::int64_t> shape, std::vector<std::int64_t> strides,
             const char* dtype = "float32") {
  View view;
  view.address = 4096;
  view.dtype = dtype_from_name(dtype);
  view.shape = std::move(shape);
  view.strides = std::move(strides);
  return view;
}

TEST(Changed, LayoutIsStridesThatMatter) {
  EXPECT_EQ(changed(strided({2, 3}, {12, 4}), strided({2, 3}, {4, 8})), Words{"layout"});
  EXPECT_EQ(changed(strided({4}, {8}), strided({4}, {4})), Words{"layout"});
  EXPECT_EQ(changed(strided({1, 3}, {999, 4}), strided({1, 3}, {12, 4})), Words{});
  EXPECT_EQ(changed(strided({0, 3}, {999, 4}), strided({0, 3}, {12, 8})), Words{});
  EXPECT_EQ(changed(strided({6}, {4}), strided({2, 3}, {12, 4})), Words{"layout"});
}

TEST(Changed, AnotherWidthIsNoOtherLayout) {
  EXPECT_EQ(changed(strided({2, 3}, {24, 8}, "float64"), strided({2, 3}, {12, 4})),
            Words{"precision"});
  EXPECT_EQ(changed(strided({2, 3}, {48, 16}, "float64"), strided({2, 3}, {12, 4})),
            (Words{"precision", "layout"}));
}

TEST(SameAddress, LooksAtTheFirstElementAndTheDevice) {
  const auto a = array<float>("float32", {1, 2});
  View b = a.view;
  EXPECT_EQ(same_address(a.view, b), Y);
  b.address += 4;
  EXPECT_EQ(same_address(a.view, b), N);
  b = a.view;
  b.device = {kDLCUDA, 0};
  EXPECT_EQ(same_address(a.view, b), N);
  View c = b;
  EXPECT_EQ(same_address(b, c), Y);
  c.device.id = 1;
  EXPECT_EQ(same_address(b, c), N);
}

TEST(SameAddress, ManagedAndPinnedMemoryMayBeCalledMemoryOfTheDevice) {
  View a = array<float>("float32", {1, 2}).view, b = a;
  for (const auto& [kind, called] :
       {std::pair{kDLCUDAManaged, kDLCUDA}, std::pair{kDLCUDAHost, kDLCUDA},
        std::pair{kDLROCMHost, kDLROCM}}) {
    a.device = {kind, 0};
    b.device = {called, 0};
    EXPECT_EQ(same_address(a, b), Y);
  }
  a.device = {kDLCUDAManaged, 0};
  b.device = {kDLROCM, 0};
  EXPECT_EQ(same_address(a, b), N);
}

TEST(SameAddress, PinnedMemoryIsHostMemory) {
  const auto a = array<float>("float32", {1});
  View b = a.view;
  b.device.type = kDLCUDAHost;
  EXPECT_EQ(same_address(a.view, b), Y);
}

TEST(SameAddress, OfNothingOnlyEqualAddressesProveSomething) {
  View empty = strided({0}, {4});
  EXPECT_EQ(same_address(empty, empty), Y);
  View other = empty;
  other.address += 4;
  EXPECT_EQ(same_address(empty, other), S);
  empty.address = 0;
  EXPECT_EQ(same_address(empty, empty), S);
}

TEST(WriteThrough, SeesSharedMemoryAndPutsItBack) {
  auto a = array<float>("float32", {1, 2, 3});
  const auto before = a.memory;
  EXPECT_EQ(write_through(a.view, a.view), Y);
  EXPECT_EQ(a.memory, before);
}

TEST(WriteThrough, SeesACopy) {
  auto a = array<float>("float32", {1, 2, 3});
  auto b = array<float>("float32", {1, 2, 3});
  const auto before = a.memory;
  EXPECT_EQ(write_through(a.view, b.view), N);
  EXPECT_EQ(a.memory, before);
  EXPECT_EQ(b.memory, before);
}

TEST(WriteThrough, HalfSharedIsNotShared) {
  auto a = array<float>("float32", {1, 2, 3});
  View b = a.view;
  b.strides = {0};
  EXPECT_EQ(write_through(a.view, b), N);
  b = a.view;
  b.address += 4;
  b.shape = {2};
  View first_two = a.view;
  first_two.shape = {2};
  EXPECT_EQ(write_through(first_two, b), N);
}

TEST(WriteThrough, GoesThroughBothLayouts) {
  Array<std::int16_t> a({0, 1, 2, 3, 4, 5}, {kDLInt, 16, 1}, {2, 3});
  View backwards = a.view;
  backwards.address += 10;
  backwards.strides = {-6, -2};
  EXPECT_EQ(write_through(backwards, backwards), Y);
  EXPECT_EQ(write_through(a.view, backwards), N);
  EXPECT_EQ(a.memory, (std::vector<std::int16_t>{0, 1, 2, 3, 4, 5}));
}

TEST(WriteThrough, OverlappingElementsAreSeenAndPutBack) {
  Array<std::int32_t> a({42, 43}, {kDLInt, 32, 1}, {5});
  a.view.strides = {0};
  EXPECT_EQ(write_through(a.view, a.view), Y);
  EXPECT_EQ(a.memory, (std::vector<std::int32_t>{42, 43}));
  a.view.shape = {3};
  a.view.strides = {2};
  EXPECT_EQ(write_through(a.view, a.view), Y);
  EXPECT_EQ(a.memory, (std::vector<std::int32_t>{42, 43}));
}

TEST(WriteThrough, AViewOfAnotherDtypeStillShares) {
  auto a = array<std::uint8_t>("bool", {1, 0, 1});
  View bytes = a.view;
  bytes.dtype = dtype_from_name("uint8");
  EXPECT_EQ(write_through(a.view, bytes), Y);
  EXPECT_EQ(a.memory, (std::vector<std::uint8_t>{1, 0, 1}));
}

TEST(WriteThrough, IsSkippedWhereItMustNotOrCannotLook) {
  auto a = array<float>("float32", {1, 2, 3});
  View readonly = a.view;
  readonly.readonly = true;
  EXPECT_EQ(write_through(readonly, a.view), S);
  EXPECT_EQ(write_through(a.view, readonly), Y) << "only the source is written to";
  View device = a.view;
  device.device.type = kDLCUDA;
  EXPECT_EQ(write_through(device, a.view), S);
  EXPECT_EQ(write_through(a.view, device), S);
  View shorter = a.view;
  shorter.shape = {2};
  EXPECT_EQ(write_through(a.view, shorter), S);
  EXPECT_EQ(write_through(strided({0}, {4}), strided({0}, {4})), S);
}

struct Row {
  Evidence evidence;  // address, guard, write, slope
  Outcome outcome;
  std::size_t warnings;
};

TEST(Judge, FollowsTheOrderOfTrust) {
  const std::vector<Row> table{
      {{S, S, S, S}, Outcome::unproven, 0},  {{Y, Y, Y, Y}, Outcome::zero_copy, 0},
      {{N, N, N, N}, Outcome::copy, 0},      {{S, Y, S, S}, Outcome::zero_copy, 0},
      {{S, N, S, S}, Outcome::copy, 0},      {{S, S, Y, S}, Outcome::zero_copy, 0},
      {{S, S, N, S}, Outcome::copy, 0},      {{Y, S, S, S}, Outcome::zero_copy, 0},
      {{N, S, S, S}, Outcome::copy, 0},      {{S, S, S, Y}, Outcome::zero_copy, 0},
      {{S, S, S, N}, Outcome::copy, 0},      {{Y, S, Y, S}, Outcome::zero_copy, 0},
      {{N, S, N, S}, Outcome::copy, 0},      {{N, S, Y, S}, Outcome::zero_copy, 1},
      {{Y, S, N, S}, Outcome::unproven, 1},  {{Y, Y, N, S}, Outcome::unproven, 1},
      {{N, Y, Y, S}, Outcome::zero_copy, 1}, {{N, N, N, Y}, Outcome::copy, 1},
      {{Y, N, S, S}, Outcome::unproven, 1},  {{N, Y, S, S}, Outcome::unproven, 1},
      {{N, N, Y, S}, Outcome::unproven, 1},  {{Y, Y, Y, N}, Outcome::zero_copy, 1},
      {{Y, N, N, N}, Outcome::unproven, 1},  {{S, Y, N, S}, Outcome::unproven, 1},
      {{S, N, Y, S}, Outcome::unproven, 1},  {{Y, N, Y, S}, Outcome::unproven, 2},
      {{N, Y, N, N}, Outcome::unproven, 3},  {{Y, S, S, N}, Outcome::zero_copy, 1},
      {{N, S, S, Y}, Outcome::copy, 1},      {{Y, S, Y, N}, Outcome::zero_copy, 1}};
  for (std::size_t i = 0; i < table.size(); ++i) {
    const Verdict verdict = judge(table[i].evidence, false);
    EXPECT_EQ(to_string(verdict.outcome), to_string(table[i].outcome)) << i;
    EXPECT_EQ(verdict.warnings.size(), table[i].warnings) << i;
  }
}

/// A device whose addresses are no addresses of the host: its memory begins at 0x1000.
class Remote : public Access {
 public:
  explicit Remote(std::vector<unsigned char> content) : bytes(std::move(content)) {}
  bool reaches(const Device& where) const override { return where.type == kDLCUDA; }
  void load(const Device&, std::uintptr_t from, void* to, std::size_t count) const override {
    std::memcpy(to, bytes.data() + (from - 0x1000), count);
  }
  void store(const Device&, std::uintptr_t to, const void* from, std::size_t count) const override {
    std::memcpy(bytes.data() + (to - 0x1000), from, count);
  }
  mutable std::vector<unsigned char> bytes;
};

View remote_view(std::uintptr_t address) {
  return {.address = address,
          .dtype = {.code = kDLUInt, .bits = 8},
          .device = {kDLCUDA, 0},
          .shape = {4},
          .strides = {1}};
}

TEST(WriteThrough, GoesThroughTheMemoryThatItIsGiven) {
  const Remote memory({1, 2, 3, 4, 1, 2, 3, 4});
  EXPECT_EQ(write_through(remote_view(0x1000), remote_view(0x1000), memory), Y);
  EXPECT_EQ(write_through(remote_view(0x1000), remote_view(0x1004), memory), N);
  EXPECT_EQ(memory.bytes, (std::vector<unsigned char>{1, 2, 3, 4, 1, 2, 3, 4}));
  View elsewhere = remote_view(0x1000);
  elsewhere.device.type = kDLROCM;
  EXPECT_EQ(write_through(remote_view(0x1000), elsewhere, memory), S);
  // The host's own memory alone is never looked for behind a device's address.
  EXPECT_EQ(write_through(remote_view(0x1000), remote_view(0x1000)), S);
}

TEST(Judge, WarnsOfEachDisagreement) {
  EXPECT_EQ(texts_of(judge({.address = N, .write = Y}, false).warnings),
            Words{"write reports shared, address reports copied: write decides"});
  EXPECT_EQ(texts_of(judge({.address = Y, .write = N}, false).warnings),
            Words{"write reports copied, address reports shared: unproven"});
  EXPECT_EQ(
      texts_of(judge({.address = Y, .guard = N, .write = Y}, false).warnings),
      (Words{
          "guard reports copied, write reports shared: unproven, the data was only read, or the "
          "copy was discarded",
          "guard reports copied, address reports shared: unproven, the data was only read, or the "
          "copy was discarded"}));
  EXPECT_EQ(
      texts_of(judge({.guard = Y, .write = N}, false).warnings),
      Words{"guard reports shared, write reports copied: unproven, the copy was not observed"});
  EXPECT_EQ(texts_of(judge({.address = N, .guard = Y, .write = Y}, false).warnings),
            Words{"guard reports shared, address reports copied: guard decides"});
}

TEST(Judge, ACopyToAnotherDeviceIsADeviceCopy) {
  EXPECT_EQ(judge({.address = N}, true).outcome, Outcome::device_copy);
  EXPECT_EQ(judge({.write = Y}, true).outcome, Outcome::zero_copy);
  EXPECT_EQ(judge({}, true).outcome, Outcome::unproven);
  EXPECT_EQ(judge({.address = Y, .write = N}, true).outcome, Outcome::unproven);
}

/// Every combination: what has other bytes at its two ends is never called one memory.
TEST(Judge, DifferentBytesAreNeverZeroCopy) {
  for (int code = 0; code < 81; ++code) {
    const auto word = [code](int place) { return static_cast<Proof>(code / place % 3); };
    const Evidence evidence{word(1), word(3), word(9), word(27)};
    const Outcome same = judge(evidence, false).outcome;
    const Verdict other = judge(evidence, false, false);
    EXPECT_EQ(other.outcome, same == Outcome::zero_copy ? Outcome::unproven : same) << code;
    EXPECT_TRUE(same != Outcome::zero_copy || !other.warnings.empty()) << code;
  }
}

/// Every combination: a verdict without a warning has all that looked on its side.
TEST(Judge, IsUnanimousWhereItDoesNotWarn) {
  for (int code = 0; code < 81; ++code) {
    const auto word = [code](int place) { return static_cast<Proof>(code / place % 3); };
    const Evidence evidence{word(1), word(3), word(9), word(27)};
    const Verdict verdict = judge(evidence, false);
    bool any_yes = false;
    bool any_no = false;
    for (const Proof proof : {evidence.address, evidence.guard, evidence.write, evidence.slope}) {
      any_yes = any_yes || proof == Y;
      any_no = any_no || proof == N;
    }
    EXPECT_EQ(verdict.warnings.empty(), !(any_yes && any_no)) << code;
    if (any_yes && any_no) continue;
    const Outcome looked = any_yes ? Outcome::zero_copy : Outcome::copy;
    EXPECT_EQ(verdict.outcome, any_yes || any_no ? looked : Outcome::unproven) << code;
  }
}

}  // namespace
