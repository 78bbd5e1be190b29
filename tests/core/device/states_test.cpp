#include <cstdlib>
#include <string>

#include "device/about.hpp"
#include "device/backends.hpp"
#include "device/vendors/cuda.hpp"
#include "device/vendors/hip.hpp"
#include "fakes.hpp"

namespace dlbench::device {
namespace {

struct Planted {
  const char* faults;
  State state;
  const char* detail;
};

template <typename Opened>
void expect_states(const char* soname, std::initializer_list<Planted> all) {
  const Fake fake(soname);
  ASSERT_TRUE(fake) << soname << " is not the fake one";
  for (const Planted& planted : all) {
    fake.fail(planted.faults);
    const Opened opened;
    EXPECT_EQ(opened.backend.state, planted.state) << planted.faults;
    EXPECT_NE(opened.backend.detail.find(planted.detail), std::string::npos)
        << opened.backend.detail;
    EXPECT_EQ(opened.backend.detail.find('\n'), std::string::npos);
    EXPECT_EQ(opened.backend.count, 0);
    EXPECT_EQ(opened.backend.table, nullptr);
    EXPECT_TRUE(about(opened).units.empty());
  }
}

TEST(States, OfTheCudaDriver) {
  expect_states<cuda::Driver>(
      "libcuda.so.1", {{"*=34", State::Stub, "CUDA_ERROR_STUB_LIBRARY (34)"},
                       {"cuInit=34", State::Stub, "cuInit: CUDA_ERROR_STUB_LIBRARY (34)"},
                       {"cuInit=35", State::NoDriver, "cuInit"},
                       {"cuInit=803", State::NoDriver, "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH (803)"},
                       {"cuInit=100", State::NoDevice, "cuInit: CUDA_ERROR_NO_DEVICE (100)"},
                       {"cuInit=800", State::NoPermission, "CUDA_ERROR_NOT_PERMITTED (800)"},
                       {"cuInit=999", State::Failed, "cuInit: CUDA_ERROR_UNKNOWN (999)"},
                       {"cuDeviceGetCount=46", State::Failed, "CUDA_ERROR_DEVICE_UNAVAILABLE (46)"},
                       {"cuGetProcAddress=500@4", State::Failed, "has no cuDeviceGetCount"}});
}

TEST(States, OfTheHipRuntime) {
  expect_states<hip::Runtime>(
      "libamdhip64.so.6",
      {{"hipGetDeviceCount=100", State::NoDevice, "hipGetDeviceCount: hipErrorNoDevice (100)"},
       {"hipGetDeviceCount=35", State::NoDriver, "hipErrorInsufficientDriver (35)"},
       {"hipGetDeviceCount=3", State::Failed, "hipErrorNotInitialized (3)"},
       {"hipRuntimeGetVersion=1", State::Failed,
        "hipRuntimeGetVersion: hipErrorInvalidValue (1)"}});
}

TEST(States, NoDeviceAtAll) {
  setenv("DLBENCH_FAKE_DEVICES", "0", 1);
  const cuda::Driver driver;
  const hip::Runtime runtime;
  unsetenv("DLBENCH_FAKE_DEVICES");
  EXPECT_EQ(driver.backend.state, State::NoDevice) << driver.backend.detail;
  EXPECT_EQ(runtime.backend.state, State::NoDevice) << runtime.backend.detail;
}

TEST(States, ANodeThatMayNotBeOpenedSaysMoreThanTheDriver) {
  EXPECT_EQ(cuda::state_of(100, Access::Denied), State::NoPermission);
  EXPECT_EQ(cuda::state_of(304, Access::Denied), State::NoPermission);
  EXPECT_EQ(cuda::state_of(34, Access::Denied), State::Stub);
  EXPECT_EQ(cuda::state_of(0, Access::Denied), State::Ok);
  EXPECT_EQ(hip::state_of(100, Access::Denied), State::NoPermission);
  EXPECT_EQ(hip::state_of(100, Access::Open), State::NoDevice);
  EXPECT_EQ(access_to("/dev/null"), Access::Open);
  EXPECT_EQ(access_to("/dev/no such node"), Access::Absent);
}

TEST(States, ALibraryThatIsNotThere) {
  const Library none("libnosuchthing", {"libnosuchthing.so.1", "libnosuchthing.so"});
  EXPECT_FALSE(none);
  EXPECT_FALSE(none.found());
  EXPECT_EQ(none.error(), "libnosuchthing.so.1 not found");
  EXPECT_EQ(none.symbol("anything"), nullptr);
}

TEST(States, ALibraryThatCannotBeLoadedIsNoAbsentOne) {
  // A file with that name and no library in it.
  const Library broken("libnosuchthing", {"libnosuchthing.so", "/etc/passwd"});
  EXPECT_FALSE(broken);
  EXPECT_TRUE(broken.found());
  EXPECT_NE(broken.error().find("/etc/passwd"), std::string::npos) << broken.error();
}

TEST(States, WhatIsLoadedIsTaken) {
  const Fake fake("libcuda.so.1");
  const Library cuda("libcuda.so", {"libnosuchthing.so.1"});
  EXPECT_TRUE(cuda);
  EXPECT_NE(cuda.path().find("/fake/libcuda.so"), std::string::npos) << cuda.path();
}

TEST(About, TellsNamesAndModes) {
  setenv("DLBENCH_FAKE_MODE", "3", 1);
  setenv("DLBENCH_FAKE_DEVICES", "2", 1);
  const About cuda = about(cuda::Driver());
  const About rocm = about(hip::Runtime());
  unsetenv("DLBENCH_FAKE_MODE");
  unsetenv("DLBENCH_FAKE_DEVICES");
  EXPECT_EQ(cuda.version, "13.0");
  EXPECT_EQ(rocm.version, "6.4.43483");
  ASSERT_EQ(cuda.units.size(), 2U);
  ASSERT_EQ(rocm.units.size(), 2U);
  EXPECT_EQ(cuda.units[1].mode, "exclusive-process");
  EXPECT_EQ(rocm.units[1].mode, "exclusive-process");
  EXPECT_EQ(cuda.units[1].uuid, "GPU-01112131-4151-6171-8191-a1b1c1d1e1f1");
  EXPECT_EQ(rocm.units[0].uuid, "GPU-000000000000fa4e");
  EXPECT_EQ(mode_of(7), "");
}

TEST(About, OfWhatHasNoDriver) {
  EXPECT_TRUE(about("sim").library.empty());
  EXPECT_EQ(backend("nothing"), nullptr);
  EXPECT_EQ(backend("cpu")->table, nullptr);
}

}  // namespace
}  // namespace dlbench::device
