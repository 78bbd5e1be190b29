#include "trace/nvtx.hpp"

#ifdef DLBENCH_NVTX
#include <nvtx3/nvToolsExt.h>
#endif

namespace dlbench::trace::nvtx {

#ifdef DLBENCH_NVTX

namespace {

// Null without a tool.
nvtxDomainHandle_t domain() {
  static const nvtxDomainHandle_t made = [] {
    const nvtxDomainHandle_t fresh = nvtxDomainCreateA("dlbench");
    if (fresh == nullptr) return fresh;
    for (auto i = static_cast<std::uint32_t>(Category::cell);
         i <= static_cast<std::uint32_t>(Category::worker); ++i) {
      nvtxDomainNameCategoryA(fresh, i, name_of(static_cast<Category>(i)).data());
    }
    detail::open.fetch_or(detail::kNvtx, std::memory_order_relaxed);
    return fresh;
  }();
  return made;
}

}  // namespace

std::string_view version() noexcept {
  return "3";
}

bool attach() {
  return domain() != nullptr;
}

void* registered(const char* text) {
  return attach() ? nvtxDomainRegisterStringA(domain(), text) : nullptr;
}

void push(const Name& name, std::uint64_t bytes) {
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.category = static_cast<std::uint32_t>(name.category());
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.payload.ullValue = bytes;
  if (name.handle() != nullptr) {
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = static_cast<nvtxStringHandle_t>(name.handle());
  } else {
    event.messageType = NVTX_MESSAGE_TYPE_ASCII;
    event.message.ascii = name.text().c_str();
  }
  nvtxDomainRangePushEx(domain(), &event);
}

void pop() {
  nvtxDomainRangePop(domain());
}

#else

std::string_view version() noexcept {
  return "";
}
bool attach() {
  return false;
}
void* registered(const char*) {
  return nullptr;
}
void push(const Name&, std::uint64_t) {}
void pop() {}

#endif

}  // namespace dlbench::trace::nvtx
