// A compiler whose code is the source: the fake runtime reads that.
#include <cstring>
#include <memory>
#include <string>

#include "calls.hpp"

using namespace dlbench::fake;

namespace {

constexpr Code compilation = 6;  // HIPRTC_ERROR_COMPILATION

struct Program {
  std::string source;
  bool compiled = false;
};

}  // namespace

DLBENCH_FAKE_EXPORT const char* hiprtcGetErrorString(Code code) {
  return code == 0             ? "HIPRTC_SUCCESS"
         : code == compilation ? "HIPRTC_ERROR_COMPILATION"
                               : "HIPRTC_ERROR_INTERNAL_ERROR";
}

DLBENCH_FAKE_EXPORT Code hiprtcCreateProgram(Program** made, const char* source, const char*, int,
                                             const char**, const char**) {
  if (const Code code = called(__func__)) return code;
  *made = std::make_unique<Program>(Program{source}).release();
  return 0;
}

DLBENCH_FAKE_EXPORT Code hiprtcCompileProgram(Program* program, int, const char**) {
  if (const Code code = called(__func__)) return code;
  program->compiled = program->source.find("__global__") != std::string::npos;
  return program->compiled ? 0 : compilation;
}

DLBENCH_FAKE_EXPORT Code hiprtcGetCodeSize(Program* program, std::size_t* bytes) {
  *bytes = program->compiled ? program->source.size() + 1 : 0;
  return called(__func__);
}

DLBENCH_FAKE_EXPORT Code hiprtcGetCode(Program* program, char* code) {
  std::memcpy(code, program->source.c_str(), program->source.size() + 1);
  return called(__func__);
}

DLBENCH_FAKE_EXPORT Code hiprtcDestroyProgram(Program** program) {
  const std::unique_ptr<Program> last(*program);
  *program = nullptr;
  return called(__func__);
}
