#include <gtest/gtest.h>

#include <array>
#include <cstdlib>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "exchange/layout.hpp"
#include "exchange/read.hpp"

namespace {

using namespace dlbench::exchange;

constexpr std::int64_t kHuge = std::numeric_limits<std::int64_t>::max();

struct Tensor : DLTensor {
  Tensor() : DLTensor{} {
    data = memory.data();
    device = {kDLCPU, 0};
    ndim = 2;
    dtype = {kDLFloat, 32, 1};
    shape = shape_.data();
    strides = strides_.data();
  }
  Tensor(const Tensor&) = delete;
  Tensor& operator=(const Tensor&) = delete;

  std::array<float, 6> memory{};
  std::array<std::int64_t, 2> shape_{2, 3};
  std::array<std::int64_t, 2> strides_{3, 1};
};

void expect_refused(const DLTensor& tensor, const std::string& because) {
  try {
    read(tensor);
    FAIL() << "read; " << because;
  } catch (const ViewError& error) {
    EXPECT_NE(std::string(error.what()).find(because), std::string::npos) << error.what();
  }
}

TEST(ReadTensor, GivesStridesInBytesAndTheFirstElement) {
  Tensor tensor;
  tensor.byte_offset = 4;
  tensor.device = {kDLCUDA, 3};
  const View view = read(tensor);
  EXPECT_EQ(view.address, reinterpret_cast<std::uintptr_t>(tensor.memory.data()) + 4);
  EXPECT_EQ(view.dtype, (Dtype{kDLFloat, 32, 1}));
  EXPECT_EQ(view.device, (Device{kDLCUDA, 3}));
  EXPECT_EQ(view.shape, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(view.strides, (std::vector<std::int64_t>{12, 4}));
  EXPECT_FALSE(view.readonly);
  EXPECT_EQ(view.elements(), 6);
  EXPECT_EQ(view.bytes(), 24U);
}

TEST(ReadTensor, NullStridesAreCompact) {
  Tensor tensor;
  tensor.strides = nullptr;
  EXPECT_EQ(read(tensor).strides, (std::vector<std::int64_t>{12, 4}));
}

TEST(ReadTensor, ZeroDimensionsNeedNoShape) {
  Tensor tensor;
  tensor.ndim = 0;
  tensor.shape = nullptr;
  tensor.strides = nullptr;
  const View view = read(tensor);
  EXPECT_EQ(view.elements(), 1);
  EXPECT_EQ(view.bytes(), 4U);
  EXPECT_TRUE(view.shape.empty());
  EXPECT_TRUE(view.strides.empty());
}

TEST(ReadTensor, NoElementsNeedNoData) {
  Tensor tensor;
  tensor.data = nullptr;
  tensor.shape_[0] = 0;
  tensor.shape_[1] = kHuge;
  tensor.strides_[0] = kHuge;
  const View view = read(tensor);
  EXPECT_EQ(view.elements(), 0);
  EXPECT_EQ(view.bytes(), 0U);
  EXPECT_EQ(view.address, 0U);
  tensor.shape_ = {2, 3};
  tensor.strides_ = {3, 1};
  expect_refused(tensor, "pointer is null");
}

TEST(ReadTensor, AStrideThatIsNeverUsedMayBeAnything) {
  Tensor tensor;
  tensor.shape_[0] = 1;
  tensor.strides_[0] = kHuge;
  EXPECT_EQ(read(tensor).elements(), 3);
  tensor.shape_[0] = 2;
  expect_refused(tensor, "overflow");
}

TEST(ReadTensor, TakesNegativeAndZeroStrides) {
  Tensor tensor;
  tensor.strides_[0] = -3;
  tensor.strides_[1] = 0;
  tensor.byte_offset = 12;
  EXPECT_EQ(read(tensor).strides, (std::vector<std::int64_t>{-12, 0}));
}

TEST(ReadTensor, RefusesWhatCannotBe) {
  for (const std::int32_t ndim : {-1, 65, std::numeric_limits<std::int32_t>::min()}) {
    Tensor tensor;
    tensor.ndim = ndim;
    expect_refused(tensor, "ndim");
  }
  Tensor no_shape;
  no_shape.shape = nullptr;
  expect_refused(no_shape, "shape is a null pointer");
  Tensor negative;
  negative.shape_[1] = -3;
  expect_refused(negative, "negative shape (2, -3)");
  Tensor many;
  many.shape_[0] = many.shape_[1] = std::int64_t{1} << 32;
  expect_refused(many, "overflow");
  Tensor bytes;
  bytes.shape_[0] = std::int64_t{1} << 60;
  expect_refused(bytes, "overflow");
}

TEST(ReadTensor, RefusesWhatLeavesTheAddressSpace) {
  Tensor far;
  far.strides_[0] = kHuge / 4;
  expect_refused(far, "overflow");
  Tensor below;
  below.strides_[0] = -(std::int64_t{1} << 60);
  expect_refused(below, "leave the address space");
  Tensor lowest;
  lowest.strides_[0] = std::numeric_limits<std::int64_t>::min() / 4;
  expect_refused(lowest, "leave the address space");
  Tensor offset;
  offset.byte_offset = std::numeric_limits<std::uint64_t>::max();
  expect_refused(offset, "byte_offset");
  Tensor end;
  end.data = memory_at(std::numeric_limits<std::uintptr_t>::max() - 7);
  expect_refused(end, "leave the address space");
}

TEST(ReadTensor, RefusesDtypesThatCannotBe) {
  for (const DLDataType dtype :
       {DLDataType{kDLFloat, 0, 1}, DLDataType{kDLFloat, 32, 0}, DLDataType{kDLInt, 4, 1},
        DLDataType{kDLBool, 1, 1}, DLDataType{kDLFloat4_e2m1fn, 8, 1},
        DLDataType{kDLFloat6_e3m2fn, 8, 1}}) {
    Tensor tensor;
    tensor.dtype = dtype;
    expect_refused(tensor, "dtype");
  }
}

TEST(ReadTensor, KeepsCodesThatItDoesNotKnow) {
  Tensor tensor;
  tensor.dtype = {99, 32, 1};
  tensor.device.device_type = static_cast<DLDeviceType>(77);
  const View view = read(tensor);
  EXPECT_EQ(to_string(view.dtype), "code99bits32lanes1");
  EXPECT_EQ(view.device.type, 77);
}

TEST(ReadTensor, CountsLanes) {
  Tensor tensor;
  tensor.dtype = {kDLFloat, 32, 4};
  const View view = read(tensor);
  EXPECT_EQ(view.element_bytes(), 16);
  EXPECT_EQ(view.strides, (std::vector<std::int64_t>{48, 16}));
  tensor.dtype = {kDLFloat4_e2m1fn, 4, 2};
  EXPECT_EQ(read(tensor).element_bytes(), 1);
}

TEST(ReadManaged, IsNeverReadOnly) {
  Tensor tensor;
  const DLManagedTensor managed{tensor, nullptr, nullptr};
  EXPECT_EQ(read(managed).bytes(), 24U);
  EXPECT_FALSE(read(managed).readonly);
}

TEST(ReadVersioned, TakesReadOnlyFromTheFlags) {
  Tensor tensor;
  DLManagedTensorVersioned managed{{1, 3}, nullptr, nullptr, 0, tensor};
  EXPECT_FALSE(read(managed).readonly);
  managed.flags = DLPACK_FLAG_BITMASK_READ_ONLY;
  EXPECT_TRUE(read(managed).readonly);
  managed.flags = DLPACK_FLAG_BITMASK_IS_COPIED;
  EXPECT_FALSE(read(managed).readonly);
}

TEST(ReadVersioned, PaddedElementsHaveAByteEach) {
  Tensor tensor;
  tensor.dtype = {kDLFloat4_e2m1fn, 4, 1};
  DLManagedTensorVersioned managed{{1, 3}, nullptr, nullptr, 0, tensor};
  EXPECT_THROW(read(managed), ViewError);
  managed.flags = DLPACK_FLAG_BITMASK_IS_SUBBYTE_TYPE_PADDED;
  EXPECT_EQ(read(managed).element_bytes(), 1);
}

TEST(ReadVersioned, LaterMinorVersionsAreRead) {
  Tensor tensor;
  const DLManagedTensorVersioned managed{{1, 99}, nullptr, nullptr, 0, tensor};
  EXPECT_EQ(read(managed).bytes(), 24U);
}

// The block ends behind `flags`: a sanitizer sees any read beyond it.
TEST(ReadVersioned, RefusesAnotherMajorVersionWithoutReadingOn) {
  constexpr std::size_t kHeader = offsetof(DLManagedTensorVersioned, dl_tensor);
  const std::unique_ptr<void, decltype(&std::free)> block(std::calloc(1, kHeader), &std::free);
  ASSERT_NE(block, nullptr);
  auto* const managed = static_cast<DLManagedTensorVersioned*>(block.get());
  for (const std::uint32_t major : {0U, 2U, 4'000'000'000U}) {
    managed->version.major = major;
    try {
      read(*managed);
      FAIL() << major;
    } catch (const ViewError& error) {
      EXPECT_NE(std::string(error.what()).find("major version " + std::to_string(major)),
                std::string::npos);
    }
  }
}

}  // namespace
