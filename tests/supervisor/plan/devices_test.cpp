#include <gtest/gtest.h>

#include <algorithm>

#include "model/error.hpp"
#include "supervisor/plan/plan.hpp"

namespace dlbench::plan {
namespace {

using Words = std::vector<std::string>;

Library library_on(const std::string& name, Words devices) {
  Library made;
  made.name = name;
  made.installed = true;
  made.producer_path = "producers/" + name + ".py";
  made.consumer_path = "consumers/" + name + ".py";
  made.protocols = {"dlpack", "cuda_array_interface"};
  made.devices = std::move(devices);
  return made;
}

std::vector<Library> libraries_with_devices() {
  std::vector<Library> libraries{library_on("numpy", {"cpu"}), library_on("torch", {"cpu", "cuda"}),
                                 library_on("dpnp", {"sycl:0"})};
  libraries[0].crosses = true;
  return libraries;
}

Axes axes_for(Words devices, std::vector<DeviceKind> kinds) {
  Axes axes;
  axes.sizes = {4096};
  axes.protocols = {"dlpack"};
  axes.devices = std::move(devices);
  axes.device_kinds = std::move(kinds);
  return axes;
}

std::vector<DeviceKind> machine(int gpus) {
  return {{"cuda", gpus, gpus == 0 ? "cuda: no-driver (35)" : ""},
          {"rocm", 0, "rocm: no-library (not found)"}};
}

Words devices_of(const Plan& plan) {
  Words found;
  for (const Cell& cell : plan.cells) {
    const std::string& device = cell.exchange.device;
    if (std::find(found.begin(), found.end(), device) == found.end()) found.push_back(device);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string error_of(const std::string& device) {
  try {
    make(libraries_with_devices(), axes_for({device}, machine(1)));
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

const Entry* excluded(const Plan& plan, const std::string& producer, const std::string& consumer,
                      const std::string& device) {
  for (const Entry& entry : plan.excluded) {
    const Exchange& x = entry.cell.exchange;
    if (x.producer == producer && x.consumer == consumer && x.device == device) return &entry;
  }
  return nullptr;
}

TEST(Devices, UnaskedTheFirstGpuTakesPartAndNoSimulatedDevice) {
  EXPECT_EQ(devices_of(make(libraries_with_devices(), axes_for({}, machine(0)))),
            (Words{"cpu", "sycl:0"}));
  EXPECT_EQ(devices_of(make(libraries_with_devices(), axes_for({}, machine(2)))),
            (Words{"cpu", "cuda:0", "sycl:0"}));
  const Plan every = make(libraries_with_devices(), axes_for({"all"}, machine(2)));
  EXPECT_EQ(devices_of(every), (Words{"cpu", "cuda:0", "cuda:1", "sycl:0"}));
}

TEST(Devices, AnUnaskedGpuIsNoGapOfALibraryWithoutOne) {
  const Plan plan = make(libraries_with_devices(), axes_for({}, machine(1)));
  EXPECT_EQ(excluded(plan, "numpy", "torch", "cuda:0"), nullptr);
  const Plan named = make(libraries_with_devices(), axes_for({"cuda"}, machine(1)));
  const Entry* gap = excluded(named, "numpy", "torch", "cuda:0");
  ASSERT_NE(gap, nullptr);
  EXPECT_EQ(gap->outcome, Outcome::no_device);
  EXPECT_EQ(gap->reason, "numpy has no arrays on cuda:0; its devices: cpu");
}

TEST(Devices, ABareKindIsItsFirstDevice) {
  EXPECT_EQ(devices_of(make(libraries_with_devices(), axes_for({"cuda", "cuda:0"}, machine(1)))),
            Words{"cuda:0"});
}

TEST(Devices, WhatIsNotThereHasTheBackendsOwnWords) {
  const Plan none = make(libraries_with_devices(), axes_for({"cuda"}, machine(0)));
  EXPECT_TRUE(none.cells.empty());
  const Entry* entry = excluded(none, "torch", "torch", "cuda:0");
  ASSERT_NE(entry, nullptr);
  EXPECT_EQ(entry->outcome, Outcome::no_device);
  EXPECT_EQ(entry->reason, "cuda: no-driver (35)");
  const Plan beyond = make(libraries_with_devices(), axes_for({"cuda:1"}, machine(1)));
  EXPECT_EQ(excluded(beyond, "torch", "torch", "cuda:1")->reason,
            "no cuda:1 here: cuda has 1 device");
}

TEST(Devices, OnAGpuEveryoneHasThreeClocks) {
  const Plan plan = make(libraries_with_devices(), axes_for({"cuda:0"}, machine(1)));
  Words clocks;
  for (const Cell& cell : plan.cells) {
    if (cell.exchange.consumer == "torch") clocks.push_back(cell.clock);
  }
  EXPECT_EQ(clocks, (Words{"call", "ready", "device"}));
}

TEST(Devices, APairIsForDlpackAndForConsumersThatAskForIt) {
  Axes axes = axes_for({"cuda:0+cpu", "cpu+cuda:0"}, machine(1));
  axes.protocols = {"dlpack", "cuda_array_interface"};
  const Plan plan = make(libraries_with_devices(), axes);
  ASSERT_EQ(plan.cells.size(), 1u);
  EXPECT_EQ(name(plan.cells[0]),
            "exchange/producer:torch/consumer:numpy/protocol:dlpack/device:cuda:0+cpu/case:f32/"
            "bytes:4096");
  EXPECT_EQ(cell_from_name(name(plan.cells[0])), plan.cells[0]);
  EXPECT_EQ(excluded(plan, "torch", "torch", "cuda:0+cpu")->reason,
            "torch has no call that imports to another device");
  EXPECT_EQ(excluded(plan, "torch", "numpy", "cpu+cuda:0")->reason,
            "numpy has no arrays on cuda:0; its devices: cpu");
}

TEST(Devices, ABadWordIsNamed) {
  EXPECT_NE(error_of("gpu").find("allowed: cpu, cuda, rocm"), std::string::npos);
  EXPECT_NE(error_of("cudo:0").find("unknown device 'cudo' (did you mean 'cuda'?)"),
            std::string::npos);
  EXPECT_NE(error_of("cpu:0").find("'cpu:0' is not a device"), std::string::npos);
  EXPECT_NE(error_of("cuda:0:1").find("'cuda:0:1' is not a device"), std::string::npos);
  EXPECT_NE(error_of("cuda:+cpu").find("is not a device"), std::string::npos);
  EXPECT_NE(error_of("cuda+cuda:0").find("names the same device twice"), std::string::npos);
}

}  // namespace
}  // namespace dlbench::plan
