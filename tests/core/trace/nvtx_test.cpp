// The tool of this process is in it: see static_tool_test.cpp.
#ifdef DLBENCH_NVTX

#include "trace/nvtx.hpp"

#include <gtest/gtest.h>
#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "trace/range.hpp"

int attach_static_tool(NvtxGetExportTableFunc_t get);

namespace {

struct Tool {
  std::vector<std::string> domains, events;
  std::map<std::uint32_t, std::string> categories;
  int depth = 0;
};

Tool& tool() {
  static Tool kept;
  return kept;
}

int NVTX_API push(nvtxDomainHandle_t, const nvtxEventAttributes_t* event) {
  const bool registered = event->messageType == NVTX_MESSAGE_TYPE_REGISTERED;
  tool().events.push_back(
      "+" +
      (registered ? *reinterpret_cast<const std::string*>(event->message.registered)
                  : "unregistered") +
      " " + tool().categories[event->category] + " " + std::to_string(event->payload.ullValue));
  return tool().depth++;
}
int NVTX_API pop(nvtxDomainHandle_t) {
  tool().events.push_back("-");
  return --tool().depth;
}
nvtxDomainHandle_t NVTX_API create(const char* name) {
  tool().domains.push_back(name);
  return reinterpret_cast<nvtxDomainHandle_t>(&tool());
}
void NVTX_API name_category(nvtxDomainHandle_t, std::uint32_t category, const char* name) {
  tool().categories[category] = name;
}
nvtxStringHandle_t NVTX_API register_string(nvtxDomainHandle_t, const char* text) {
  static std::map<std::string, std::string> kept;
  return reinterpret_cast<nvtxStringHandle_t>(&(kept[text] = text));
}

template <typename Function>
void put(NvtxFunctionTable table, int id, Function function) {
  *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

int attach_static_tool(NvtxGetExportTableFunc_t get) {
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get(NVTX_ETID_CALLBACKS));
  NvtxFunctionTable table = nullptr;
  unsigned size = 0;
  callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE2, &table, &size);
  put(table, NVTX_CBID_CORE2_DomainCreateA, create);
  put(table, NVTX_CBID_CORE2_DomainNameCategoryA, name_category);
  put(table, NVTX_CBID_CORE2_DomainRegisterStringA, register_string);
  put(table, NVTX_CBID_CORE2_DomainRangePushEx, push);
  put(table, NVTX_CBID_CORE2_DomainRangePop, pop);
  return 1;
}

namespace dlbench::trace {
namespace {

TEST(Nvtx, AnAttachedToolGetsNamesCategoriesAndBytes) {
  EXPECT_TRUE(nvtx::attach());
  EXPECT_TRUE(is_open());
  EXPECT_EQ(nvtx::version(), "3");
  tool().events.clear();
  {
    const Range cell("a cell", Category::cell, 4096);
    const Range inner(named("export", Category::export_), 64);
  }
  EXPECT_EQ(tool().events,
            (std::vector<std::string>{"+a cell cell 4096", "+export export 64", "-", "-"}));
  EXPECT_EQ(tool().domains, std::vector<std::string>{"dlbench"});
  EXPECT_EQ(tool().depth, 0);
}

TEST(Nvtx, ARangeThatIsLeftByAnExceptionEnds) {
  tool().events.clear();
  EXPECT_THROW(
      {
        const Range range("thrown through", Category::exchange);
        throw 1;
      },
      int);
  EXPECT_EQ(tool().events.size(), 2U);
  EXPECT_EQ(tool().depth, 0);
}

TEST(Nvtx, ANameIsRegisteredOnce) {
  const Name& name = named("import", Category::import_);
  EXPECT_EQ(&name, &named("import", Category::import_));
  EXPECT_NE(&name, &named("import", Category::worker));
  EXPECT_NE(name.handle(), nullptr);
}

}  // namespace
}  // namespace dlbench::trace

#endif
