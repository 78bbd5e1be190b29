#include "supervisor/process/device_memory.hpp"

#include <gtest/gtest.h>

namespace dlbench::supervisor {
namespace {

TEST(DeviceMemory, TheFirstWorkerOfADeviceIsAlone) {
  DeviceMemory memory;
  EXPECT_TRUE(memory.has_room("cuda:0", 1));
  EXPECT_FALSE(memory.has_room("cuda:0", 2));
}

TEST(DeviceMemory, EachWorkerIsExpectedToTakeWhatTheLargestTook) {
  DeviceMemory memory;
  EXPECT_EQ(memory.add("cuda:0", 900, 1000), 100U);
  EXPECT_TRUE(memory.has_room("cuda:0", 7));
  EXPECT_FALSE(memory.has_room("cuda:0", 8));
  EXPECT_EQ(memory.add("cuda:0", 700, 1000), 200U);
  EXPECT_TRUE(memory.has_room("cuda:0", 2));
  EXPECT_FALSE(memory.has_room("cuda:0", 3));
  EXPECT_EQ(memory.add("cuda:0", 650, 1000), 50U);
  EXPECT_FALSE(memory.has_room("cuda:0", 3));
  // Of another device nothing is known.
  EXPECT_FALSE(memory.has_room("cuda:1", 2));
}

TEST(DeviceMemory, WhatAWorkerTookIsFreeWhenItHasGone) {
  DeviceMemory memory;
  const std::uint64_t first = memory.add("cuda:0", 600, 1000);
  EXPECT_FALSE(memory.has_room("cuda:0", 2));
  memory.release("cuda:0", first);
  EXPECT_TRUE(memory.has_room("cuda:0", 2));
  EXPECT_EQ(memory.add("cuda:0", 600, 1000), 400U);
}

TEST(DeviceMemory, WhatOtherProgramsHoldIsCountedUntilASecondWorkerLives) {
  DeviceMemory memory;
  EXPECT_EQ(memory.add("cuda:0", 550, 1000), 450U);
  EXPECT_FALSE(memory.has_room("cuda:0", 1));
  EXPECT_EQ(memory.add("cuda:0", 500, 1000), 50U);
  EXPECT_TRUE(memory.has_room("cuda:0", 8));
}

TEST(DeviceMemory, ADeviceThatHoldsOneWorkerIsReportedOnce) {
  DeviceMemory memory;
  EXPECT_GT(memory.add("cuda:0", 900, 1000), 0U);
  EXPECT_FALSE(memory.is_found_full("cuda:0"));
  const std::uint64_t taken = memory.add("cuda:1", 400, 1000);
  EXPECT_TRUE(memory.is_found_full("cuda:1"));
  EXPECT_FALSE(memory.is_found_full("cuda:1"));
  memory.release("cuda:1", taken);
  memory.add("cuda:1", 400, 1000);
  EXPECT_FALSE(memory.is_found_full("cuda:1"));
}

TEST(DeviceMemory, WhatOtherProgramsHoldDoesNotBecomeFreeWithAWorker) {
  DeviceMemory memory;
  const std::uint64_t first = memory.add("cuda:0", 1500, 2400);  // others hold 800
  EXPECT_EQ(memory.add("cuda:0", 1400, 2400), 100U);
  memory.release("cuda:0", first);
  EXPECT_TRUE(memory.has_room("cuda:0", 12));  // 1500 of them are free
  EXPECT_FALSE(memory.has_room("cuda:0", 13));
}

TEST(DeviceMemory, OneLoneWorkerAfterAnotherTellsNoShare) {
  DeviceMemory memory;
  for (int i = 0; i < 3; ++i) {
    const std::uint64_t taken = memory.add("cuda:0", 590, 1000);  // others hold 400
    EXPECT_FALSE(memory.has_room("cuda:0", 2));
    memory.release("cuda:0", taken);
  }
  memory.add("cuda:0", 590, 1000);
  memory.add("cuda:0", 580, 1000);
  EXPECT_TRUE(memory.has_room("cuda:0", 40));
}

TEST(DeviceMemory, WhereTheDriverTellsNothingNothingIsBounded) {
  DeviceMemory memory;
  memory.add_unknown("rocm:0");
  EXPECT_TRUE(memory.has_room("rocm:0", 100));
}

}  // namespace
}  // namespace dlbench::supervisor
