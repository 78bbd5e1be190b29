#include "supervisor/plan/fingerprint.hpp"

#include <cstdint>

namespace dlbench::plan {
namespace {

class Fnv1a {
 public:
  void add(std::string_view text) {
    for (const char letter : text) step(static_cast<unsigned char>(letter));
    step(0);
  }

  std::string hex() const {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::string text;
    for (int shift = 60; shift >= 0; shift -= 4) text += kDigits[(hash_ >> shift) & 15U];
    return text;
  }

 private:
  void step(std::uint64_t byte) {
    hash_ ^= byte;
    hash_ *= 1099511628211U;
  }

  std::uint64_t hash_ = 14695981039346656037U;
};

}  // namespace

std::string fingerprint(const Plan& plan) {
  Fnv1a hash;
  for (const Cell& cell : plan.cells) hash.add(name(cell));
  for (const Entry& entry : plan.excluded) hash.add(name(entry.cell));
  if (plan.case_sweep) hash.add("case_sweep");
  for (const Library& library : plan.libraries) {
    if (!library.installed) continue;
    hash.add(library.environment);
    hash.add(library.name);
    hash.add(library.version);
  }
  return hash.hex();
}

}  // namespace dlbench::plan
