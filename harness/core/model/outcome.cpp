#include "model/outcome.hpp"

#include <algorithm>
#include <string>

#include "model/error.hpp"

namespace dlbench {
namespace {
constexpr std::array<std::string_view, 3> kProofs{"yes", "no", "skipped"};

template <typename Enum, std::size_t N>
Enum from_word(const std::array<std::string_view, N>& words, std::string_view word,
               std::string_view what) {
  const auto found = std::find(words.begin(), words.end(), word);
  if (found == words.end()) {
    throw UsageError("'" + std::string(word) + "' is not a valid " + std::string(what));
  }
  return static_cast<Enum>(found - words.begin());
}
}  // namespace

std::string_view to_string(Outcome outcome) {
  return kOutcomes[static_cast<std::size_t>(outcome)];
}
Outcome outcome_from(std::string_view word) {
  return from_word<Outcome>(kOutcomes, word, "outcome");
}
std::string_view to_string(Proof proof) {
  return kProofs[static_cast<std::size_t>(proof)];
}
Proof proof_from(std::string_view word) {
  return from_word<Proof>(kProofs, word, "proof");
}

}  // namespace dlbench
