#pragma once

#include <cstddef>
#include <cstdint>

/// The part of CUPTI's interface that dlbench uses, declared here so that a build does not need
/// CUPTI's headers. A test compares the two if the headers are installed.
namespace dlbench::trace::cupti {

using Result = int;  // CUptiResult
inline constexpr Result kSuccess = 0;
inline constexpr Result kTaken = 39;  // CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED

inline constexpr int kDriverApi = 1;      // CUPTI_CB_DOMAIN_DRIVER_API
inline constexpr int kEnter = 0;          // CUPTI_API_ENTER
inline constexpr std::size_t kName = 64;  // CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN

/// The beginning of CUpti_CallbackData.
struct CallbackData {
  int site;
  const char* function;
};

/// CUpti_SubscriberParams.
struct SubscriberParams {
  std::size_t size;
  const char* name;
  char* old_name;
  std::size_t old_size;
};

using Callback = void (*)(void* self, int domain, std::uint32_t id, const void* data);
using Subscribe = Result (*)(void** subscriber, Callback callback, void* self);
using SubscribeNamed = Result (*)(void** subscriber, Callback callback, void* self,
                                  SubscriberParams* params);
using Unsubscribe = Result (*)(void* subscriber);
using EnableCallback = Result (*)(std::uint32_t enable, void* subscriber, int domain,
                                  std::uint32_t id);
using ResultString = Result (*)(Result result, const char** text);

}  // namespace dlbench::trace::cupti
