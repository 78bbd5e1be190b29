#include "model/judge.hpp"

#include <array>
#include <string_view>

namespace dlbench {
namespace {

struct Witness {
  std::string_view name;
  Proof word;
};

std::string_view meaning(Proof word) {
  return word == Proof::yes ? "shared" : "copied";
}

// Why the evidence is contradictory; empty where the most trusted instrument decides.
std::string_view contradiction(const Evidence& evidence) {
  if (evidence.address == Proof::yes && evidence.write == Proof::no) return "unproven";
  const Proof shared = evidence.write != Proof::skipped ? evidence.write : evidence.address;
  if (evidence.guard == Proof::no && shared == Proof::yes) {
    return "unproven, the data was only read, or the copy was discarded";
  }
  if (evidence.guard == Proof::yes && shared == Proof::no)
    return "unproven, the copy was not observed";
  return {};
}

}  // namespace

Verdict judge(const Evidence& evidence, bool crossed_device, bool same_bytes) {
  const std::array<Witness, 4> in_order_of_trust{{{"guard", evidence.guard},
                                                  {"write", evidence.write},
                                                  {"address", evidence.address},
                                                  {"slope", evidence.slope}}};
  const std::string_view contradictory = contradiction(evidence);

  Verdict verdict;
  const Witness* trusted = nullptr;
  for (const Witness& witness : in_order_of_trust) {
    if (witness.word == Proof::skipped) continue;
    if (trusted == nullptr) trusted = &witness;
    if (witness.word == trusted->word) continue;
    const std::string first(trusted->name), says(meaning(trusted->word)), other(witness.name);
    std::string text = first + " reports " + says + ", " + other + " reports " +
                       std::string(meaning(witness.word)) + ": ";
    Warning::Data data{{"trusted", first}, {"says", says}, {"other", other}};
    if (contradictory.empty())
      warn(verdict.warnings, "disagreement", text + first + " decides", std::move(data));
    else
      warn(verdict.warnings, "contradiction", text.append(contradictory), std::move(data));
  }
  if (trusted == nullptr || !contradictory.empty()) return verdict;
  if (trusted->word == Proof::yes && !same_bytes) {
    const std::string name(trusted->name);
    warn(verdict.warnings, "dtype-differs",
         name + " reports shared, but the dtypes of source and result differ: unproven",
         {{"trusted", name}});
    return verdict;
  }
  const Outcome copied = crossed_device ? Outcome::device_copy : Outcome::copy;
  verdict.outcome = trusted->word == Proof::yes ? Outcome::zero_copy : copied;
  return verdict;
}

}  // namespace dlbench
