// NVTX calls the function that this variable holds where a program defines it. NVTX's headers
// define it too, weakly, so that they stay out of here.
#include <cstdint>

using GetExportTable = const void* (*)(std::uint32_t);

#ifdef DLBENCH_NVTX
int attach_static_tool(GetExportTable get);
int (*InitializeInjectionNvtx2_fnptr)(GetExportTable) = attach_static_tool;
#endif
