#include <link.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>

#include "exchange/guard/guard_state.hpp"
#include "model/contains.hpp"

namespace dlbench::exchange::guard {
namespace {

struct Code {
  std::uintptr_t begin;
  std::uintptr_t end;
  std::string library;
};

std::string own_executable() {
  std::error_code error;
  return std::filesystem::read_symlink("/proc/self/exe", error).filename().string();
}

int collect(dl_phdr_info* info, std::size_t, void* into) {
  auto& all = *static_cast<std::vector<Code>*>(into);
  const std::string name = info->dlpi_name == nullptr || *info->dlpi_name == '\0'
                               ? own_executable()
                               : std::filesystem::path(info->dlpi_name).filename().string();
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || !(segment.p_flags & PF_X)) continue;
    const std::uintptr_t begin = info->dlpi_addr + segment.p_vaddr;
    all.push_back({begin, begin + segment.p_memsz, name});
  }
  return 0;
}

std::string_view library_at(const std::vector<Code>& code, std::uintptr_t address) {
  for (const Code& one : code) {
    if (address >= one.begin && address < one.end) return one.library;
  }
  return {};
}

// Is it a library that copies for a caller? Then the caller is reported.
bool is_helper(std::string_view library) {
  constexpr std::array<std::string_view, 9> kHelpers{"libc.so",  "libc-",   "libm.so",
                                                     "ld-linux", "ld-",     "libstdc++",
                                                     "libgcc_s", "libasan", "libubsan"};
  return std::any_of(kHelpers.begin(), kHelpers.end(),
                     [&](std::string_view helper) { return library.starts_with(helper); });
}

// libc's copy functions have no frame, so the top word of the stack is their return address. Each
// following word that points into a library's code counts as a return address.
std::string_view library_of(const std::vector<Code>& code, const Sample& sample) {
  const std::string_view at_fault = library_at(code, sample.pc);
  if (!at_fault.empty() && !is_helper(at_fault)) return at_fault;
  for (std::size_t i = 0; i < sample.words; ++i) {
    const std::string_view caller = library_at(code, sample.stack[i] - 1);
    if (!caller.empty() && !is_helper(caller)) return caller;
  }
  return at_fault.empty() ? "generated code" : at_fault;
}

}  // namespace

std::vector<Accessor> accessors(const Sample* samples, std::size_t count, long own_thread) {
  std::vector<Accessor> all;
  if (count == 0) return all;
  std::vector<Code> code;
  ::dl_iterate_phdr(collect, &code);
  for (std::size_t i = 0; i < count; ++i) {
    if (!samples[i].filled.load()) continue;  // the sample is still being written
    Accessor one{std::string(library_of(code, samples[i])), samples[i].wrote,
                 samples[i].thread != own_thread};
    add_new(all, std::move(one));
  }
  return all;
}

}  // namespace dlbench::exchange::guard
