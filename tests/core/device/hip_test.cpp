// What dlbench reads from a HIP runtime and its compiler, and which runtime it takes.
#include "device/vendors/hip.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "device/backends.hpp"
#include "device/vendors/cuda.hpp"
#include "fakes.hpp"

#ifdef DLBENCH_HIP_HEADERS
#define __HIP_PLATFORM_AMD__ 1
#include <hip/hip_runtime_api.h>
#endif

namespace dlbench::device {
namespace {

namespace fs = std::filesystem;

constexpr const char* hip_soname = "libamdhip64.so.6";
constexpr const char* cuda_soname = "libcuda.so.1";

/// A hipDeviceProp_t with gcnArchName at this place, and bytes that are no text elsewhere.
std::string properties(std::size_t arch_at, const std::string& arch,
                       const std::string& name = "AMD Instinct MI300X") {
  std::string all(hip::properties_size, '\0');
  for (std::size_t i = 256; i < 1472; ++i) all[i] = static_cast<char>(i * 37);
  all.replace(0, name.size(), name);
  all.replace(arch_at, arch.size() + 1, arch.c_str(), arch.size() + 1);
  return all;
}

TEST(HipArch, IsFoundInEachLayout) {
  // Where HIP 5 has it, and where HIP 6 and 7 have it.
  EXPECT_EQ(hip::arch_in(properties(396, "gfx90a:sramecc+:xnack-")), "gfx90a:sramecc+:xnack-");
  EXPECT_EQ(hip::arch_in(properties(1160, "gfx1100")), "gfx1100");
}

TEST(HipArch, IsNotTakenFromTheDevicesName) {
  EXPECT_EQ(hip::arch_in(properties(1160, "gfx1036", "gfx1100")), "gfx1036");
  EXPECT_EQ(hip::arch_in(properties(1160, "", "gfx1100")), "");
}

TEST(HipArch, IsNothingThatOnlyLooksLikeIt) {
  EXPECT_EQ(hip::arch_in(properties(1160, "gfx")), "");
  EXPECT_EQ(hip::arch_in(properties(1160, "gfx is no number")), "");
  EXPECT_EQ(hip::arch_in("gfx1100"), "");
}

#ifdef DLBENCH_HIP_HEADERS
TEST(HipArch, IsFoundInTheHeadersStruct) {
  static_assert(sizeof(hipDeviceProp_t) <= hip::properties_size);
  hipDeviceProp_t filled{};
  std::snprintf(filled.name, sizeof filled.name, "gfx decoy");
  std::snprintf(filled.gcnArchName, sizeof filled.gcnArchName, "gfx1030");
  std::string all(hip::properties_size, '\0');
  all.replace(0, sizeof filled, reinterpret_cast<const char*>(&filled), sizeof filled);
  EXPECT_EQ(hip::arch_in(all), "gfx1030");
}
#endif

/// Ends the process after one delay: 0, with the error's text on stderr.
[[noreturn]] void delay_once(const char* library, const char* faults) {
  alarm(20);  // a hang is a failure
  const Fake fake(library);
  if (!fake) std::_Exit(2);
  fake.fail(faults);
  const Backend& rocm = *backend("rocm");
  if (rocm.state != State::Ok || rocm.table->enter(0) != 0) std::_Exit(3);
  const Code code = rocm.table->delay(nullptr, 1000, 0, 0, 0);
  std::fprintf(stderr, "<%s>\n", code == 0 ? "" : line(*rocm.table, "delay", code).c_str());
  std::_Exit(0);
}

class HipDeathTest : public testing::Test {
 protected:
  HipDeathTest() { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }
};

TEST_F(HipDeathTest, TheCompilerIsGivenTheArchitecture) {
  EXPECT_EXIT(delay_once("libhiprtc.so.6", nullptr), testing::ExitedWithCode(0), "<>");
}

TEST_F(HipDeathTest, TheCompilersLogIsInTheReason) {
  EXPECT_EXIT(delay_once("libhiprtc.so.6", "hiprtcCompileProgram=6"), testing::ExitedWithCode(0),
              "<delay: hipErrorInvalidSource, no delay kernel for gfx942:sramecc.:xnack-: "
              "hiprtcCompileProgram: HIPRTC_ERROR_COMPILATION \\(6\\): "
              "delay.hip:1:1: error: planted 1 error generated. \\(300\\)>");
}

/// Ends the process after two delays that cannot be compiled: how often that was tried.
[[noreturn]] void delay_twice() {
  alarm(20);
  const Fake fake("libhiprtc.so.6");
  if (!fake) std::_Exit(2);
  fake.fail("hiprtcCompileProgram=6");
  const Table& table = *backend("rocm")->table;
  if (table.enter(0) != 0) std::_Exit(3);
  std::string detail;
  for (int i = 0; i < 2; ++i)
    detail += line(table, "delay", table.delay(nullptr, 0, 0, 0, 0)) + "\n";
  std::fprintf(stderr, "<%u> %s", fake.calls("hiprtcCompileProgram"), detail.c_str());
  std::_Exit(0);
}

TEST_F(HipDeathTest, WhatCannotBeCompiledIsTriedOnce) {
  EXPECT_EXIT(delay_twice(), testing::ExitedWithCode(0),
              "<1> delay: .*COMPILATION.*\ndelay: .*COMPILATION");
}

TEST_F(HipDeathTest, ALogThatCannotBeReadIsNone) {
  EXPECT_EXIT(delay_once("libhiprtc.so.6", "hiprtcCompileProgram=6,hiprtcGetProgramLog=2"),
              testing::ExitedWithCode(0),
              "hiprtcCompileProgram: HIPRTC_ERROR_COMPILATION \\(6\\) \\(300\\)>");
}

/// Ends the process: 0 if pinned memory is recognized, although no device is named for it.
[[noreturn]] void place_without_ordinal() {
  const Fake fake(hip_soname);
  if (!fake) std::_Exit(2);
  const Table& table = *backend("rocm")->table;
  void* pinned = nullptr;
  if (table.enter(0) != 0 || table.allocate_pinned(&pinned, 64) != 0) std::_Exit(3);
  fake.fail("hipPointerGetAttribute=1@3");
  Memory kind{};
  int ordinal = -1;
  const Code code = table.memory_of(&kind, &ordinal, reinterpret_cast<std::uintptr_t>(pinned));
  std::_Exit(code == 0 && kind == Memory::Pinned && ordinal == 0 ? 0 : 1);
}

TEST_F(HipDeathTest, MemoryOfNoDeviceStillHasItsKind) {
  EXPECT_EXIT(place_without_ordinal(), testing::ExitedWithCode(0), "");
}

/// A folder with copies of a fake library, as a wheel or a second installation would have it.
class Copies : public HipDeathTest {
 protected:
  void SetUp() override { fs::remove_all(root); }
  void TearDown() override { fs::remove_all(root); }

  std::string copy(const char* soname, const std::string& at) {
    fs::create_directories((root / at).parent_path());
    fs::copy_file(path_of(soname), root / at);
    return root / at;
  }

  static std::string path_of(const char* soname) { return Library({soname}).path(); }

  fs::path root = fs::path(testing::TempDir()) / ("dlbench-copies-" + std::to_string(getpid()));
};

using TwoRuntimesDeathTest = Copies;

/// Ends the process after both were loaded and the backend was opened, whose state is on stderr.
template <typename Opened>
[[noreturn]] void open_beside(const char* soname, const std::string& other) {
  if (!Fake(soname) || dlopen(other.c_str(), RTLD_NOW) == nullptr) std::_Exit(2);
  const Opened opened;
  std::fprintf(stderr, "%s <%s>\n", std::string(name_of(opened.backend.state)).c_str(),
               opened.backend.detail.c_str());
  std::_Exit(0);
}

TEST_F(TwoRuntimesDeathTest, OfHipAreRefused) {
  const std::string other = copy(hip_soname, "wheel/libamdhip64.so");
  EXPECT_EXIT(open_beside<hip::Runtime>(hip_soname, other), testing::ExitedWithCode(0),
              "failed <this process has loaded more than one libamdhip64: .*/libamdhip64.so.6 and "
              ".*/wheel/libamdhip64.so, which share neither streams nor memory>");
}

TEST_F(TwoRuntimesDeathTest, OfCudaAreRefused) {
  const std::string other = copy(cuda_soname, "compat/libcuda.so.1");
  EXPECT_EXIT(open_beside<cuda::Driver>(cuda_soname, other), testing::ExitedWithCode(0),
              "failed <this process has loaded more than one libcuda.so: .*/libcuda.so.1 and "
              ".*/compat/libcuda.so.1, which share neither streams nor memory>");
}

TEST_F(TwoRuntimesDeathTest, OneFileByTwoNamesIsOne) {
  fs::create_directories(root);
  fs::create_symlink(path_of(hip_soname), root / "libamdhip64.so");
  EXPECT_EXIT(open_beside<hip::Runtime>(hip_soname, root / "libamdhip64.so"),
              testing::ExitedWithCode(0), "ok <>");
}

TEST_F(TwoRuntimesDeathTest, TheDriverThatWslsLoadsIsNoSecondOne) {
  const std::string other = copy(cuda_soname, "usr/lib/wsl/drivers/nv_dispi.inf/libcuda.so.1.1");
  EXPECT_EXIT(open_beside<cuda::Driver>(cuda_soname, other), testing::ExitedWithCode(0), "ok <>");
}

}  // namespace
}  // namespace dlbench::device
