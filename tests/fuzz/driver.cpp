// Feeds a fuzz target where libFuzzer is not: bytes from a seed, for so many seconds.
//   TARGET [SECONDS] [SEED]      or, to try one input again:      TARGET --input HEX

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "input.hpp"

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace {

std::vector<std::uint8_t> bytes;

void tell_input() {
  std::fprintf(stderr, "fuzz: the input was --input ");
  for (const std::uint8_t byte : bytes) std::fprintf(stderr, "%02x", byte);
  std::fprintf(stderr, "\n");
}

void on_signal(int signal) {
  tell_input();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

int try_one(const std::string& hex) {
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
  }
  return LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
}

}  // namespace

int main(int count, char** words) {
  std::signal(SIGABRT, on_signal);
  std::signal(SIGALRM, on_signal);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_set_death_callback(tell_input);
#endif
  if (count == 3 && std::strcmp(words[1], "--input") == 0) return try_one(words[2]);
  const double seconds = count > 1 ? std::atof(words[1]) : 5;
  const std::uint64_t seed = count > 2 ? std::strtoull(words[2], nullptr, 10) : 1;
  std::printf("%s: seed %llu, %g s\n", words[0], static_cast<unsigned long long>(seed), seconds);
  std::mt19937_64 random(seed);
  const auto begin = std::chrono::steady_clock::now();
  unsigned long long inputs = 0;
  do {
    for (int i = 0; i < 100; ++i, ++inputs) {
      bytes.resize(random() % 400);
      for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>(random());
      ::alarm(10);  // no input takes that long
      LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
  } while (std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() <
           seconds);
  ::alarm(0);
  std::printf("%llu inputs\n", inputs);
  return 0;
}
