// dlbench's own declarations against CUPTI's headers, where they are installed.
#include "trace/cupti_abi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "trace/cupti.hpp"

// Those of CUDA 13 know every call that is counted.
#ifdef DLBENCH_CUPTI_H
#include <cupti_version.h>
#endif
#if defined(DLBENCH_CUPTI_H) && CUPTI_API_VERSION >= 130000
#include <cupti.h>

#include <cstddef>
#include <type_traits>

namespace dlbench::trace::cupti {
namespace {

#define DLBENCH_API_CALL(kind, name, id) static_assert(CUPTI_DRIVER_TRACE_CBID_##name == id);
#include "trace/api_calls.def"
#undef DLBENCH_API_CALL

static_assert(kTaken == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(kSuccess == CUPTI_SUCCESS);
static_assert(kDriverApi == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(kEnter == CUPTI_API_ENTER);
static_assert(kName >= CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN);
static_assert(sizeof(Result) == sizeof(CUptiResult));
static_assert(sizeof(CUpti_SubscriberHandle) == sizeof(void*));
static_assert(sizeof(SubscriberParams) == sizeof(CUpti_SubscriberParams));
static_assert(offsetof(SubscriberParams, old_name) ==
              offsetof(CUpti_SubscriberParams, oldSubscriberName));
static_assert(offsetof(CallbackData, site) == offsetof(CUpti_CallbackData, callbackSite));
static_assert(offsetof(CallbackData, function) == offsetof(CUpti_CallbackData, functionName));
static_assert(std::is_same_v<CUpti_CallbackId, std::uint32_t>);

}  // namespace
}  // namespace dlbench::trace::cupti
#endif

namespace dlbench::trace {
namespace {

TEST(Cupti, KindsHaveTheNamesOfTheDocument) {
#define DLBENCH_API_CALL(kind, name, id) \
  EXPECT_EQ(kApiKinds[static_cast<std::size_t>(ApiKind::kind)], #kind) << #name;
#include "trace/api_calls.def"
#undef DLBENCH_API_CALL
}

// A program that was built with a default stream for each thread calls these alone.
TEST(Cupti, EveryCallOnAStreamHasItsTwin) {
  std::vector<std::string> names;
#define DLBENCH_API_CALL(kind, name, id) names.push_back(#name);
#include "trace/api_calls.def"
#undef DLBENCH_API_CALL
  const auto has = [&](const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  for (const char* name : {"cuStreamSynchronize", "cuEventRecord", "cuStreamWaitEvent",
                           "cuMemcpyAsync", "cuLaunchKernel", "cuMemAllocAsync", "cuStreamQuery"}) {
    EXPECT_TRUE(has(name)) << name;
    EXPECT_TRUE(has(std::string(name) + "_ptsz")) << name;
  }
  EXPECT_TRUE(has("cuMemcpyHtoD_v2_ptds"));
}

}  // namespace
}  // namespace dlbench::trace
