#include "device/library.hpp"

#include <dlfcn.h>
#include <link.h>

namespace dlbench::device {

namespace {

struct Search {
  std::string_view family;
  std::vector<std::string> paths;
};

/// On WSL, libcuda.so.1 loads the driver itself, a libcuda.so.1.1 in the driver store of Windows.
/// Both are the same driver, and callers use the first.
constexpr std::string_view wsl_driver_store = "/wsl/drivers/";

int add_file(dl_phdr_info* object, std::size_t, void* wanted) {
  auto& search = *static_cast<Search*>(wanted);
  const std::string_view path = object->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (file.starts_with(search.family) && path.find(wsl_driver_store) == std::string_view::npos) {
    search.paths.emplace_back(path);
  }
  return 0;
}

}  // namespace

std::vector<std::string> loaded_files(std::string_view family) {
  Search search{family, {}};
  dl_iterate_phdr(add_file, &search);
  return search.paths;
}

Library::Library(const std::vector<std::string>& names) {
  open(names);
}

Library::Library(std::string_view family, const std::vector<std::string>& names) {
  const std::vector<std::string> paths = loaded_files(family);
  if (paths.size() > 1) {
    error_ = "this process has loaded more than one " + std::string(family) + ": " + paths[0];
    for (std::size_t i = 1; i < paths.size(); ++i) error_ += " and " + paths[i];
    error_ += ", which share neither streams nor memory";
    found_ = true;
    return;
  }
  if (!paths.empty()) handle_ = dlopen(paths[0].c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (handle_ != nullptr) {
    found_ = true;
    return;
  }
  open(names);
}

void Library::open(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    handle_ = dlopen(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (handle_ != nullptr) {
      error_.clear();
      found_ = true;
      return;
    }
    const char* const error = dlerror();
    const std::string message = error != nullptr ? error : "no reason given";
    // The message begins with the name of the missing file, which may be a dependency.
    const bool absent = message.starts_with(name + ": ") &&
                        message.find("No such file or directory") != std::string::npos;
    if (!error_.empty() && (absent || found_)) continue;
    error_ = absent ? name + " not found" : message;
    found_ = !absent;
  }
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
