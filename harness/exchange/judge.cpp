#include <array>
#include <string_view>

#include "exchange/verdict.hpp"

namespace dlbench::exchange {
namespace {

struct Witness {
  std::string_view name;
  Proof word;
};

std::string_view meaning(Proof word) {
  return word == Proof::yes ? "shared" : "copied";
}

std::string disagreement(const Witness& trusted, const Witness& other, std::string_view end) {
  return std::string(trusted.name) + " says " + std::string(meaning(trusted.word)) + ", " +
         std::string(other.name) + " says " + std::string(meaning(other.word)) + ": " +
         std::string(end);
}

}  // namespace

Verdict judge(const Evidence& evidence, bool crossed_device) {
  const std::array<Witness, 4> in_order_of_trust{{{"guard", evidence.guard},
                                                  {"write", evidence.write},
                                                  {"address", evidence.address},
                                                  {"slope", evidence.slope}}};
  // One address and yet two memories: whichever it is, nobody can say what was copied when.
  const bool two_faced = evidence.address == Proof::yes && evidence.write == Proof::no;

  Verdict verdict;
  const Witness* trusted = nullptr;
  for (const Witness& witness : in_order_of_trust) {
    if (witness.word == Proof::skipped) continue;
    if (trusted == nullptr) trusted = &witness;
    if (witness.word == trusted->word) continue;
    verdict.warnings.push_back(disagreement(
        *trusted, witness, two_faced ? "unproven" : std::string(trusted->name) + " decides"));
  }
  if (trusted == nullptr || two_faced) return verdict;
  const Outcome copied = crossed_device ? Outcome::device_copy : Outcome::copy;
  verdict.outcome = trusted->word == Proof::yes ? Outcome::zero_copy : copied;
  return verdict;
}

}  // namespace dlbench::exchange
