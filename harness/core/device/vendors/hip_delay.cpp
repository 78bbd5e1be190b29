#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "device/kernels.hpp"
#include "device/per_device.hpp"
#include "device/vendors/hip.hpp"

namespace dlbench::device::hip {

namespace {

constexpr Code not_supported = 801;
/// Returned if the kernel cannot be compiled. The runtime's functions in the table never return it,
/// so the reason below belongs to this error.
constexpr Code invalid_source = 300;

std::atomic<const char*> reason{nullptr};

Code fail(const std::string& arch, const std::string& why) {
  // Never destroyed, because the table contains pointers into it.
  static auto& kept = *std::make_unique<std::set<std::string>>().release();
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  reason =
      kept.insert("hipErrorInvalidSource, no delay kernel for " + arch + ": " + why).first->c_str();
  return invalid_source;
}

/// One line of at most 400 characters.
std::string shorten(std::string log) {
  constexpr std::size_t longest = 400;
  while (!log.empty() && (log.back() == '\n' || log.back() == '\0')) log.pop_back();
  std::replace_if(
      log.begin(), log.end(), [](unsigned char c) { return c < ' '; }, ' ');
  if (log.size() > longest) log = log.substr(0, longest - 3) + "...";
  return log;
}

/// The names of the compiler, first the file in the runtime's folder, because the compiler must
/// have the runtime's version.
std::vector<std::string> compiler_names() {
  const std::string versioned = "libhiprtc.so." + std::to_string(runtime().version / 10'000'000);
  const auto folder = std::filesystem::path(runtime().library.path()).parent_path();
  std::vector<std::string> names;
  for (const std::string& name : {versioned, std::string("libhiprtc.so")}) {
    std::error_code absent;
    if (std::filesystem::exists(folder / name, absent)) names.push_back(folder / name);
  }
  names.insert(names.end(), {versioned, "libhiprtc.so"});
  return names;
}

struct Loaded {
  Library library{compiler_names()};
  Compiler compiler;
  /// The loader's message, or a missing function; empty if the compiler is complete.
  std::string missing;

  Loaded() {
    each(compiler, [this](const char* symbol, auto& function) {
      set(function, library.symbol(symbol));
      // Before ROCm 7 the runtime contains the compiler.
      if (function == nullptr) set(function, runtime().library.symbol(symbol));
      if (function == nullptr && missing.empty()) missing = library ? symbol : library.error();
    });
  }
};

std::string log_of(const Compiler& compiler, Program program) {
  std::size_t bytes = 0;
  if (compiler.get_program_log_size(program, &bytes) != 0 || bytes == 0) return {};
  std::string log(bytes, '\0');
  return compiler.get_program_log(program, log.data()) == 0 ? shorten(log) : std::string();
}

/// The compiler has its own error numbers, so its errors are mapped to one of the runtime.
Code compile(const std::string& arch, std::vector<char>& made) {
  static const Loaded loaded;
  if (!loaded.missing.empty()) return fail(arch, loaded.missing);
  const Compiler& compiler = loaded.compiler;
  const auto failed = [&](const char* called, Code code, const std::string& log = {}) {
    const std::string text = line(called, compiler.get_error_string(code), code);
    return fail(arch, log.empty() ? text : text + ": " + log);
  };
  Program program = nullptr;
  Code code = compiler.create_program(&program, delay_hip.data(), "delay.hip", 0, nullptr, nullptr);
  if (code != 0) return failed("hiprtcCreateProgram", code);
  // Without an architecture hiprtc loads a libamdhip64.so itself: a second runtime in addition to
  // that of a wheel, or none if only libamdhip64.so.6 is installed.
  const std::string option = "--offload-arch=" + arch;
  const char* const options[] = {option.c_str()};
  Code error = 0;
  std::size_t bytes = 0;
  if ((code = compiler.compile_program(program, 1, const_cast<const char**>(options))) != 0) {
    error = failed("hiprtcCompileProgram", code, log_of(compiler, program));
  } else if ((code = compiler.get_code_size(program, &bytes)) != 0) {
    error = failed("hiprtcGetCodeSize", code);
  } else {
    made.resize(bytes);
    if ((code = compiler.get_code(program, made.data())) != 0) {
      error = failed("hiprtcGetCode", code);
    }
  }
  const Code last = compiler.destroy_program(&program);
  return error != 0 || last == 0 ? error : failed("hiprtcDestroyProgram", last);
}

Code load(Ordinal device, Function* made) {
  const Api& api = runtime().api;
  std::string properties(properties_size, '\0');
  if (const Code code = api.get_device_properties(properties.data(), device)) return code;
  const std::string arch = arch_in(properties);
  if (arch.empty()) {
    return fail("device " + std::to_string(device), "the runtime reports no architecture");
  }
  std::vector<char> image;
  if (const Code code = compile(arch, image)) return code;
  Module module = nullptr;
  if (const Code code = api.module_load_data(&module, image.data())) return code;
  return api.module_get_function(made, module, delay_kernel);
}

/// Does not repeat a failed compilation, because it takes seconds and every delay needs the kernel.
/// Called by PerDevice under its lock.
Code load_once(Ordinal device, Function* made) {
  static std::map<Ordinal, const char*> failed;
  if (const auto found = failed.find(device); found != failed.end()) {
    reason = found->second;
    return invalid_source;
  }
  const Code code = load(device, made);
  if (code == invalid_source) failed[device] = reason;
  return code;
}

}  // namespace

std::string arch_in(std::string_view properties) {
  constexpr std::size_t name = 256;
  constexpr std::string_view letters = "0123456789abcdefghijklmnopqrstuvwxyz+-:";
  for (std::size_t at = name; (at = properties.find("gfx", at)) != std::string_view::npos; ++at) {
    const std::size_t end = properties.find_first_not_of(letters, at);
    if (end == std::string_view::npos) break;
    const std::size_t number = std::string_view("gfx").size();
    if (properties[end] == '\0' && end > at + number && properties[at + number] >= '0' &&
        properties[at + number] <= '9') {
      return std::string(properties.substr(at, end - at));
    }
  }
  return {};
}

const char* why_no_delay(Code code) {
  return code == invalid_source ? reason.load() : nullptr;
}

Code delay(Stream stream, std::int64_t ns, Address stamps, Address out, unsigned value) {
  static PerDevice kernels;
  const Api& api = runtime().api;
  Ordinal device = 0;
  if (const Code code = api.get_device(&device)) return code;
  int khz = 0;
  if (const Code code = api.device_get_attribute(&khz, wall_clock_rate, device)) return code;
  if (khz <= 0) return not_supported;
  Function kernel = nullptr;
  const auto make = [device](Function* made) { return load_once(device, made); };
  if (const Code code = kernels.get(device, &kernel, make)) return code;
  unsigned long long rate = static_cast<unsigned long long>(khz);
  void* parameters[] = {&ns, &stamps, &out, &value, &rate};
  return api.module_launch_kernel(kernel, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
}

}  // namespace dlbench::device::hip
