#include "trace/cupti.hpp"

#include <dlfcn.h>

#include <utility>

#include "trace/cupti_abi.hpp"

namespace dlbench::trace {
namespace {

struct Call {
  std::uint32_t id;
  ApiKind kind;
};

constexpr Call kCalls[] = {
#define DLBENCH_API_CALL(kind, name, id) {id, ApiKind::kind},
#include "trace/api_calls.def"
#undef DLBENCH_API_CALL
};

constexpr std::size_t kMostIds = 1024;

constexpr std::array<std::int8_t, kMostIds> kinds_by_id() {
  std::array<std::int8_t, kMostIds> kinds{};
  for (std::int8_t& kind : kinds) kind = -1;
  for (const Call& call : kCalls) kinds[call.id] = static_cast<std::int8_t>(call.kind);
  return kinds;
}

constexpr std::array<std::int8_t, kMostIds> kKinds = kinds_by_id();

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool has_driver() {
  void* driver = ::dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (driver != nullptr) ::dlclose(driver);
  return driver != nullptr;
}

}  // namespace

struct ApiTrace::Cupti {
  std::string path;
  cupti::Subscribe subscribe = nullptr;
  cupti::SubscribeNamed subscribe_named = nullptr;  // since CUDA 13; may be missing
  cupti::Unsubscribe unsubscribe = nullptr;
  cupti::EnableCallback enable = nullptr;
  cupti::ResultString result_string = nullptr;

  // Prefer a library that is already loaded, because the driver calls it.
  static std::unique_ptr<Cupti> load(const std::vector<std::string>& libraries) {
    for (const int how : {RTLD_NOLOAD, 0}) {
      for (const std::string& path : libraries) {
        void* library = ::dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL | how);
        if (library == nullptr) continue;
        auto found = std::make_unique<Cupti>();
        found->path = path;
        find(library, "cuptiSubscribe_v2", found->subscribe_named);
        if (find(library, "cuptiSubscribe", found->subscribe) &&
            find(library, "cuptiUnsubscribe", found->unsubscribe) &&
            find(library, "cuptiEnableCallback", found->enable) &&
            find(library, "cuptiGetResultString", found->result_string)) {
          return found;
        }
      }
    }
    return nullptr;
  }

  std::string message(cupti::Result result) const {
    const char* text = nullptr;
    if (result_string(result, &text) != cupti::kSuccess || text == nullptr) text = "error";
    return std::string(text) + " (" + std::to_string(result) + ")";
  }
};

ApiTrace::ApiTrace(std::unique_ptr<Cupti> cupti)
    : cupti_(std::move(cupti)), library_(cupti_->path) {}

ApiTrace::Opened ApiTrace::open(const std::vector<std::string>& libraries) {
  if (!has_driver()) return {nullptr, "no CUDA driver: libcuda.so.1 cannot be loaded"};
  std::unique_ptr<Cupti> cupti = Cupti::load(libraries);
  if (!cupti) {
    std::string tried;
    for (const std::string& path : libraries) tried += (tried.empty() ? "" : ", ") + path;
    return {nullptr, "no CUPTI: none of these can be loaded: " + tried};
  }
  std::unique_ptr<ApiTrace> trace(new ApiTrace(std::move(cupti)));
  const Cupti& at = *trace->cupti_;
  char holder[cupti::kName] = "";
  cupti::SubscriberParams params{sizeof params, "dlbench", holder, sizeof holder};
  const cupti::Result result =
      at.subscribe_named != nullptr
          ? at.subscribe_named(&trace->subscriber_, &called, trace.get(), &params)
          : at.subscribe(&trace->subscriber_, &called, trace.get());
  if (result == cupti::kTaken) {
    holder[sizeof holder - 1] = '\0';
    return {nullptr, std::string("CUPTI is in use by ") +
                         (holder[0] == '\0' ? "another tool" : holder) + "; run without that tool"};
  }
  if (result != cupti::kSuccess) {
    return {nullptr, "CUPTI does not start: " + at.message(result)};
  }
  std::size_t enabled = 0;
  for (const Call& call : kCalls) {
    // An older CUPTI lacks the newest calls; programs that use it do not make them.
    enabled += at.enable(1, trace->subscriber_, cupti::kDriverApi, call.id) == cupti::kSuccess;
  }
  if (enabled == 0) return {nullptr, "CUPTI enables no callback"};
  return {std::move(trace), ""};
}

ApiTrace::~ApiTrace() {
  if (subscriber_ != nullptr) cupti_->unsubscribe(subscriber_);
}

void ApiTrace::called(void* self, int domain, std::uint32_t id, const void* data) {
  auto& trace = *static_cast<ApiTrace*>(self);
  const std::uint32_t now = trace.now_.load(std::memory_order_relaxed);
  if (now == 0 || domain != cupti::kDriverApi || id >= kMostIds || kKinds[id] < 0) return;
  if (static_cast<const cupti::CallbackData*>(data)->site != cupti::kEnter) return;
  ++trace.counts_[now][static_cast<std::size_t>(kKinds[id])];
}

ApiCounts ApiTrace::counted(Category category) const {
  ApiCounts counts{};
  const auto& row = counts_[static_cast<std::size_t>(category)];
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = row[i];
  return counts;
}

void ApiTrace::clear() {
  for (auto& row : counts_) {
    for (std::atomic<std::uint64_t>& count : row) count = 0;
  }
}

}  // namespace dlbench::trace
