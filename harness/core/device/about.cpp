#include "device/about.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "device/vendors/cuda.hpp"
#include "device/vendors/hip.hpp"

namespace dlbench::device {

std::string mode_of(int number) {
  constexpr std::array<const char*, 4> words{"default", "exclusive", "prohibited",
                                             "exclusive-process"};
  const auto index = static_cast<std::size_t>(number);
  return number >= 0 && index < words.size() ? words[index] : "";
}

std::string uuid_of(const unsigned char (&bytes)[16]) {
  const bool text = std::all_of(std::begin(bytes), std::end(bytes),
                                [](unsigned char one) { return std::isxdigit(one) != 0; });
  if (text) return "GPU-" + std::string(std::begin(bytes), std::end(bytes));
  constexpr std::string_view digits = "0123456789abcdef";
  std::string written = "GPU-";
  for (std::size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) written += '-';
    written += digits[bytes[i] / 16];
    written += digits[bytes[i] % 16];
  }
  return written;
}

About about(std::string_view backend) {
  if (backend == "cuda") return cuda::about(cuda::driver());
  if (backend == "rocm") return hip::about(hip::runtime());
  return {};
}

}  // namespace dlbench::device
