// An NVTX tool: keeps each push and pop of this process in memory, and writes them at its end as
// lines of JSON to $DLBENCH_INJECTION_LOG.PID. Without that variable it only counts.
#include <nvtx3/nvToolsExt.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <sstream>
#include <string>
#include <vector>

namespace {

struct Domain {
  std::string name;
  std::map<std::uint32_t, std::string> categories;
};

struct Observation {
  char what;  // '+' or '-'
  long thread;
  const Domain* domain;
  std::string message;
  bool registered;
  std::uint32_t category;
  int payload_type;
  std::uint64_t payload;
};

std::mutex mutex;
std::vector<Observation> all;
std::uint64_t pushes = 0, pops = 0;
bool keeps = false;
thread_local int depth = 0;

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\') out += '\\';
    out += letter;
  }
  return out + '"';
}

// Only a process that ends by itself comes here.
void write_all() {
  const char* path = std::getenv("DLBENCH_INJECTION_LOG");
  if (path == nullptr) return;
  std::FILE* out = std::fopen((std::string(path) + "." + std::to_string(::getpid())).c_str(), "w");
  if (out == nullptr) return;
  for (const Observation& observed : all) {
    std::ostringstream line;
    line << R"({"op": ")" << (observed.what == '+' ? "push" : "pop") << R"(", "thread": )"
         << observed.thread << R"(, "domain": )"
         << quoted(observed.domain ? observed.domain->name : "");
    if (observed.what == '+') {
      const auto category = observed.domain
                                ? observed.domain->categories.find(observed.category)
                                : std::map<std::uint32_t, std::string>::const_iterator{};
      const bool known = observed.domain && category != observed.domain->categories.end();
      line << R"(, "message": )" << quoted(observed.message) << R"(, "registered": )"
           << (observed.registered ? "true" : "false") << R"(, "category": )"
           << quoted(known ? category->second : "") << R"(, "payload_type": )"
           << observed.payload_type << R"(, "payload": )" << observed.payload;
    }
    std::fprintf(out, "%s}\n", line.str().c_str());
  }
  std::fclose(out);
}

int NVTX_API push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* event) {
  ++pushes;
  if (keeps) {
    const bool registered = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
    const auto* text =
        registered ? reinterpret_cast<const std::string*>(event->message.registered)->c_str()
                   : event->message.ascii;
    const std::lock_guard lock(mutex);
    all.push_back({'+', ::syscall(SYS_gettid), reinterpret_cast<const Domain*>(domain), text,
                   registered, event->category, event->payloadType, event->payload.ullValue});
  }
  return depth++;
}

int NVTX_API pop(nvtxDomainHandle_t domain) {
  ++pops;
  if (keeps) {
    const std::lock_guard lock(mutex);
    all.push_back(
        {'-', ::syscall(SYS_gettid), reinterpret_cast<const Domain*>(domain), "", false, 0, 0, 0});
  }
  return --depth;
}

nvtxDomainHandle_t NVTX_API create(const char* name) {
  return reinterpret_cast<nvtxDomainHandle_t>(new Domain{name, {}});
}

void NVTX_API name_category(nvtxDomainHandle_t domain, std::uint32_t category, const char* name) {
  reinterpret_cast<Domain*>(domain)->categories[category] = name;
}

nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  return reinterpret_cast<nvtxStringHandle_t>(new std::string(text));
}

template <typename Function>
void put(NvtxFunctionTable table, int id, Function function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" __attribute__((visibility("default"))) std::uint64_t injection_pushes() {
  return pushes;
}

extern "C" __attribute__((visibility("default"))) int InitializeInjectionNvtx2(
    NvtxGetExportTableFunc_t get) {
  static const bool registered = std::atexit(write_all) == 0;
  keeps = registered && std::getenv("DLBENCH_INJECTION_LOG") != nullptr;
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  if (callbacks == nullptr ||
      callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size) == 0) {
    return 0;
  }
  put(table, NVTX_CBID_CORE2_DomainCreateA, create);
  put(table, NVTX_CBID_CORE2_DomainNameCategoryA, name_category);
  put(table, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  put(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  put(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}
