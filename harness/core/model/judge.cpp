#include "model/judge.hpp"

#include <array>
#include <string_view>

namespace dlbench {
namespace {

struct Instrument {
  std::string_view name;
  Proof proof;
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
  const std::array<Instrument, 4> in_order_of_trust{{{"guard", evidence.guard},
                                                     {"write", evidence.write},
                                                     {"address", evidence.address},
                                                     {"slope", evidence.slope}}};
  const std::string_view contradictory = contradiction(evidence);

  Verdict verdict;
  const Instrument* trusted = nullptr;
  for (const Instrument& instrument : in_order_of_trust) {
    if (instrument.proof == Proof::skipped) continue;
    if (trusted == nullptr) trusted = &instrument;
    if (instrument.proof == trusted->proof) continue;
    const std::string first(trusted->name), result(meaning(trusted->proof)), other(instrument.name);
    std::string text = first + " reports " + result + ", " + other + " reports " +
                       std::string(meaning(instrument.proof)) + ": ";
    Warning::Data data{{"trusted", first}, {"result", result}, {"other", other}};
    if (contradictory.empty())
      warn(verdict.warnings, "disagreement", text + first + " decides", std::move(data));
    else
      warn(verdict.warnings, "contradiction", text.append(contradictory), std::move(data));
  }
  if (trusted == nullptr || !contradictory.empty()) return verdict;
  if (trusted->proof == Proof::yes && !same_bytes) {
    const std::string name(trusted->name);
    warn(verdict.warnings, "dtype-differs",
         name + " reports shared, but the dtypes of source and result differ: unproven",
         {{"trusted", name}});
    return verdict;
  }
  const Outcome copied = crossed_device ? Outcome::device_copy : Outcome::copy;
  verdict.outcome = trusted->proof == Proof::yes ? Outcome::zero_copy : copied;
  return verdict;
}

}  // namespace dlbench
