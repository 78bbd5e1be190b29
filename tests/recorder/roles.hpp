#pragma once

#include <cstddef>
#include <string_view>
#include <type_traits>

/// How an argument of a driver's function is written into a trace and read from it. The type tells
/// most of it; `role` names the exceptions.
namespace dlbench::recorder {

/// The version of the trace's format; a replay refuses any other.
inline constexpr int format_version = 1;

/// The one kernel whose parameters are known (harness/core/device/kernels).
inline constexpr std::string_view delay_kernel = "dlbench_delay";

enum class Role {
  Number,      ///< as it is
  Pointer,     ///< a handle or an address: numbered in the order of appearance
  Text,        ///< a string that goes in
  Result,      ///< what the function stores there: [value]
  Name,        ///< a buffer that the function fills with a string: [text]
  Code,        ///< a buffer that the function fills with a module or a struct
  Image,       ///< a module or its source: what it holds, or the buffer that it was written into
  Attributes,  ///< numbers, as many as the first argument says
  Values,      ///< one 32-bit answer for each of these attributes
  Answer,      ///< one 32-bit answer behind a void*
  Struct,      ///< a buffer that the function fills with a struct of its version: not written
  Texts,       ///< strings, as many as the argument before says
  Parameters,  ///< of a kernel
  Given,       ///< a handle that the function takes back from its place
  Ignored,
};

template <typename T>
constexpr Role role_by_type() {
  if constexpr (!std::is_pointer_v<T>) {
    // Address is the only one of its type but for flags of cuGetProcAddress, which has its own way.
    return std::is_same_v<T, unsigned long long> ? Role::Pointer : Role::Number;
  } else if constexpr (std::is_same_v<T, const char*>) {
    return Role::Text;
  } else if constexpr (std::is_same_v<T, char*>) {
    return Role::Name;
  } else if constexpr (std::is_void_v<std::remove_pointer_t<T>>) {
    return Role::Pointer;
  } else {
    return Role::Result;
  }
}

struct Exception {
  std::string_view function;
  std::size_t position;
  Role role;
};

inline constexpr Exception exceptions[] = {
    {"cuPointerGetAttributes", 1, Role::Attributes},
    {"cuPointerGetAttributes", 2, Role::Values},
    {"cuModuleLoadData", 1, Role::Image},
    {"cuLaunchKernel", 9, Role::Parameters},
    {"cuLaunchKernel", 10, Role::Ignored},
    {"hipGetDevicePropertiesR0600", 0, Role::Struct},
    {"hipPointerGetAttribute", 0, Role::Answer},
    {"hipGetDeviceProperties", 0, Role::Code},
    {"hipGetDevicePropertiesR0600", 0, Role::Code},
    {"hipModuleLoadData", 1, Role::Image},
    {"hipModuleLaunchKernel", 9, Role::Parameters},
    {"hipModuleLaunchKernel", 10, Role::Ignored},
    {"hiprtcCreateProgram", 1, Role::Image},
    {"hiprtcCreateProgram", 4, Role::Ignored},
    {"hiprtcCreateProgram", 5, Role::Ignored},
    {"hiprtcCompileProgram", 2, Role::Texts},
    {"hiprtcGetCode", 1, Role::Code},
    {"hiprtcDestroyProgram", 0, Role::Given},
};

template <typename T>
constexpr Role role(std::string_view function, std::size_t position) {
  for (const Exception& one : exceptions) {
    if (one.function == function && one.position == position) return one.role;
  }
  return role_by_type<T>();
}

/// Whether the handle that a function stores is new even where an earlier one had its address.
constexpr bool makes_new(std::string_view function) {
  for (const std::string_view part : {"Create", "Alloc", "Malloc", "ModuleLoad"}) {
    if (function.find(part) != std::string_view::npos) return true;
  }
  return false;
}

constexpr bool frees(std::string_view function) {
  return function.find("Free") != std::string_view::npos;
}

/// Whether an argument may be any address of the program's own.
constexpr bool takes_memory(std::string_view function, std::size_t position) {
  if (function.find("Memcpy") != std::string_view::npos) return position < 2;
  return function.find("PointerGetAttribute") != std::string_view::npos;
}

}  // namespace dlbench::recorder
