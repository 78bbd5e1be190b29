// Opens a range and does not close it: what a checker must find.
#include <nvtx3/nvToolsExt.h>

int main() {
  const nvtxDomainHandle_t domain = nvtxDomainCreateA("dlbench");
  nvtxDomainNameCategoryA(domain, 1, "cell");
  nvtxEventAttributes_t event{};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.category = 1;
  event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = nvtxDomainRegisterStringA(domain, "a cell");
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePushEx(domain, &event);
  nvtxDomainRangePop(domain);
}
