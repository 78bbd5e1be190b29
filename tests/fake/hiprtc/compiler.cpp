// A compiler whose code object is the source behind a line that names its architecture: the fake
// runtime reads both. It has no runtime to ask for an architecture, as hiprtc has none where only a
// versioned libamdhip64.so.6 is installed.
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "calls.hpp"

using namespace dlbench::fake;

namespace {

constexpr Code compilation = 6;  // HIPRTC_ERROR_COMPILATION

struct Program {
  std::string source;
  std::string code;
  std::string log;
};

constexpr std::string_view arch_option = "--offload-arch=";

}  // namespace

DLBENCH_FAKE_EXPORT const char* hiprtcGetErrorString(Code code) {
  return code == 0             ? "HIPRTC_SUCCESS"
         : code == compilation ? "HIPRTC_ERROR_COMPILATION"
                               : "HIPRTC_ERROR_INTERNAL_ERROR";
}

DLBENCH_FAKE_EXPORT Code hiprtcCreateProgram(Program** made, const char* source, const char*, int,
                                             const char**, const char**) {
  if (const Code code = called(__func__)) return code;
  *made = std::make_unique<Program>(Program{source, {}, {}}).release();
  return 0;
}

DLBENCH_FAKE_EXPORT Code hiprtcCompileProgram(Program* program, int count, const char** options) {
  if (const Code code = called(__func__)) {
    program->log = "delay.hip:1:1: error: planted\n1 error generated.\n";
    return code;
  }
  std::string_view arch;
  for (const std::string_view option : std::span(options, static_cast<std::size_t>(count))) {
    if (option.starts_with(arch_option)) arch = option.substr(arch_option.size());
  }
  if (arch.empty()) program->log = "no architecture, and no runtime to ask for one\n";
  if (program->source.find("__global__") == std::string::npos) program->log = "no kernel\n";
  if (!program->log.empty()) return compilation;
  program->code = code_object_begin + std::string(arch) + "\n" + program->source;
  return 0;
}

DLBENCH_FAKE_EXPORT Code hiprtcGetProgramLogSize(Program* program, std::size_t* bytes) {
  *bytes = program->log.size() + 1;
  return called(__func__);
}

DLBENCH_FAKE_EXPORT Code hiprtcGetProgramLog(Program* program, char* log) {
  std::memcpy(log, program->log.c_str(), program->log.size() + 1);
  return called(__func__);
}

DLBENCH_FAKE_EXPORT Code hiprtcGetCodeSize(Program* program, std::size_t* bytes) {
  *bytes = program->code.empty() ? 0 : program->code.size() + 1;
  return called(__func__);
}

DLBENCH_FAKE_EXPORT Code hiprtcGetCode(Program* program, char* code) {
  std::memcpy(code, program->code.c_str(), program->code.size() + 1);
  return called(__func__);
}

DLBENCH_FAKE_EXPORT Code hiprtcDestroyProgram(Program** program) {
  const std::unique_ptr<Program> last(*program);
  *program = nullptr;
  return called(__func__);
}
