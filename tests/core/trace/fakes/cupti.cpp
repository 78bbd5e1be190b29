// A CUPTI with one subscriber. The fake driver reports each function that is called. With
// $DLBENCH_FAKE_CUPTI=taken another subscriber exists; =broken it fails in another way; =deaf it
// enables all callbacks and calls none.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

namespace {

using Callback = void (*)(void*, int, std::uint32_t, const void*);
struct Params {
  std::size_t size;
  const char* name;
  char* old_name;
  std::size_t old_size;
};
struct Data {
  int site;
  const char* function;
};

Callback callback = nullptr;
void* user = nullptr;
bool enabled[1024];
bool deaf = false;

int refusal() {
  const char* set = std::getenv("DLBENCH_FAKE_CUPTI");
  const std::string_view how = set == nullptr ? "" : set;
  deaf = how == "deaf";
  return how == "taken" ? 39 : how == "broken" ? 999 : callback != nullptr ? 39 : 0;
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED int cuptiSubscribe(void** subscriber, Callback called, void* data) {
  if (const int refused = refusal(); refused != 0) return refused;
  callback = called;
  user = data;
  std::memset(enabled, 0, sizeof enabled);
  *subscriber = &callback;
  return 0;
}

#ifndef WITHOUT_NAMES
EXPORTED int cuptiSubscribe_v2(void** subscriber, Callback called, void* data, Params* params) {
  const int refused = cuptiSubscribe(subscriber, called, data);
  if (refused == 39 && params != nullptr && params->old_name != nullptr) {
    std::snprintf(params->old_name, params->old_size, "Nsight Systems");
  }
  return refused;
}
#endif

EXPORTED int cuptiUnsubscribe(void*) {
  callback = nullptr;
  return 0;
}

EXPORTED int cuptiEnableCallback(std::uint32_t enable, void*, int domain, std::uint32_t id) {
  if (domain != 1 || id >= 1024) return 1;
  enabled[id] = enable != 0;
  return 0;
}

EXPORTED int cuptiGetResultString(int result, const char** text) {
  *text = result == 999 ? "CUPTI_ERROR_UNKNOWN" : "CUPTI_ERROR";
  return 0;
}

EXPORTED void fake_cupti_called(std::uint32_t id, const char* name);

/// The same by the function's name alone.
EXPORTED void fake_cupti_named(const char* name) {
  static const std::map<std::string_view, std::uint32_t> ids{
#define DLBENCH_API_CALL(kind, name, id) {#name, id},
#include "trace/api_calls.def"
#undef DLBENCH_API_CALL
  };
  if (const auto found = ids.find(name); found != ids.end()) fake_cupti_called(found->second, name);
}

/// The fake driver is in a function: its beginning and its end.
EXPORTED void fake_cupti_called(std::uint32_t id, const char* name) {
  for (int site = 0; site < 2; ++site) {
    const Data data{site, name};
    if (callback != nullptr && enabled[id] && !deaf) callback(user, 1, id, &data);
  }
}
