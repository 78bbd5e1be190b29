#include "device/library.hpp"

#include <dlfcn.h>
#include <link.h>

#include <string_view>

namespace dlbench::device {

namespace {

struct Search {
  std::string_view family;
  std::string path;
};

int look_at(dl_phdr_info* object, std::size_t, void* wanted) {
  auto& search = *static_cast<Search*>(wanted);
  const std::string_view path = object->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.starts_with(search.family)) return 0;
  search.path = path;
  return 1;
}

/// Wheels bring libraries under names of their own, such as libamdhip64-1a2b3c4d.so.6.
void* loaded(std::string_view family) {
  Search search{family, {}};
  dl_iterate_phdr(look_at, &search);
  return search.path.empty() ? nullptr : dlopen(search.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
}

}  // namespace

Library::Library(std::string_view family, std::initializer_list<const char*> names)
    : handle_(loaded(family)) {
  for (const char* name : names) {
    if (handle_ != nullptr) break;
    handle_ = dlopen(name, RTLD_LAZY | RTLD_LOCAL);
    if (handle_ != nullptr) break;
    const char* const error = dlerror();
    const std::string said = error != nullptr ? error : "no reason given";
    // The name comes first where the file itself is missing, another's where a file that it needs
    // is.
    const bool absent = said.starts_with(std::string(name) + ": ") &&
                        said.find("No such file or directory") != std::string::npos;
    if (!said_.empty() && (absent || found_)) continue;
    said_ = absent ? std::string(name) + " not found" : said;
    found_ = !absent;
  }
  if (handle_ == nullptr) return;
  said_.clear();
  found_ = true;
}

std::string Library::path() const {
  const link_map* map = nullptr;
  if (handle_ == nullptr || dlinfo(handle_, RTLD_DI_LINKMAP, &map) != 0) return {};
  return map->l_name;
}

void* Library::symbol(const char* name) const {
  return handle_ == nullptr ? nullptr : dlsym(handle_, name);
}

}  // namespace dlbench::device
