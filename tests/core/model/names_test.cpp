#include "model/names.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "model/error.hpp"
#include "model/outcome.hpp"

namespace {

using namespace dlbench;

const std::vector<std::string> kLibraries{"jax", "numpy", "tensorflow", "torch"};

TEST(Nearest, FindsASlipOfTheFinger) {
  EXPECT_EQ(nearest("nmpy", kLibraries), "numpy");
  EXPECT_EQ(nearest("Numpy", kLibraries), "numpy");
  EXPECT_EQ(nearest("tensroflow", kLibraries), "tensorflow");
  EXPECT_EQ(nearest("jx", kLibraries), "jax");
  EXPECT_EQ(nearest("jxa", kLibraries), "jax");
}

TEST(CallFor, PrefersItsOwn) {
  const std::vector<std::string> all{"dlpack", "buffer", "convert"};
  EXPECT_EQ(call_for("dlpack", all), "dlpack");
  EXPECT_EQ(call_for("buffer", all), "buffer");
  EXPECT_EQ(call_for("convert", all), "convert");
}

TEST(CallFor, BorrowsWhatMayTakeIt) {
  const std::vector<std::string> both{"dlpack", "convert"};
  EXPECT_EQ(call_for("dlpack_legacy", both), "dlpack");
  EXPECT_EQ(call_for("dlpack_versioned", both), "dlpack");
  EXPECT_EQ(call_for("array_struct", both), "convert");
}

TEST(CallFor, NoConversionStandsForNumpysDispatch) {
  const std::vector<std::string> one{"convert"};
  for (const auto* word : {"array_ufunc", "array_function"}) {
    EXPECT_TRUE(is_dispatch(word));
    EXPECT_EQ(call_for(word, one), "");
    EXPECT_EQ(call_for(word, std::vector<std::string>{word}), word);
  }
  EXPECT_FALSE(is_dispatch("array"));
  EXPECT_EQ(call_for("call", one), "");
}

TEST(CallFor, DlpackIsNeverConverted) {
  const std::vector<std::string> one{"convert"};
  EXPECT_EQ(call_for("dlpack", one), "");
  EXPECT_EQ(call_for("dlpack_legacy", one), "");
  EXPECT_EQ(call_for("dlpack_c", one), "");
  EXPECT_EQ(call_for("array", {}), "");
}

TEST(Nearest, IsEmptyWhereNothingIsNear) {
  EXPECT_EQ(nearest("cupy", kLibraries), "");
  EXPECT_EQ(nearest("x", kLibraries), "");
  EXPECT_EQ(nearest("", kLibraries), "");
  EXPECT_EQ(nearest("numpy", {}), "");
}

TEST(RequireKnown, PassesWhatIsAllowed) {
  EXPECT_NO_THROW(require_known("library", "jax", kLibraries));
}

std::string error_of(std::string_view wanted) {
  try {
    require_known("library", wanted, kLibraries);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(RequireKnown, NamesTheNearestAndTheAllowed) {
  EXPECT_EQ(error_of("trch"),
            "unknown library 'trch' (did you mean 'torch'?); allowed: jax, numpy, tensorflow, "
            "torch");
  EXPECT_EQ(error_of("warp"), "unknown library 'warp'; allowed: jax, numpy, tensorflow, torch");
}

TEST(Names, AreUniqueAndFitIntoACellsName) {
  std::set<std::string_view> observed;
  for (const auto word : kProtocols) {
    EXPECT_TRUE(observed.insert(word).second) << word;
    EXPECT_EQ(word.find_first_of("/:"), std::string_view::npos) << word;
  }
  EXPECT_EQ(kPhases.front(), "exchange");
}

TEST(Outcome, EachHasItsWord) {
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    const auto outcome = static_cast<Outcome>(i);
    EXPECT_EQ(to_string(outcome), kOutcomes.at(i));
    EXPECT_EQ(outcome_from(kOutcomes.at(i)), outcome);
    EXPECT_EQ(std::count(kOutcomes.begin(), kOutcomes.end(), kOutcomes.at(i)), 1);
  }
  EXPECT_THROW(outcome_from("fine"), UsageError);
  EXPECT_THROW(outcome_from(""), UsageError);
}

// The words of the results document, by hand: moving one in the list must not pass unseen.
TEST(Outcome, WordsBelongToTheirValues) {
  EXPECT_EQ(to_string(Outcome::zero_copy), "zero-copy");
  EXPECT_EQ(to_string(Outcome::unproven), "unproven");
  EXPECT_EQ(to_string(Outcome::refused), "refused");
  EXPECT_EQ(to_string(Outcome::wrong), "wrong");
  EXPECT_EQ(to_string(Outcome::crashed), "crashed");
  EXPECT_EQ(to_string(Outcome::timed_out), "timed-out");
  EXPECT_EQ(to_string(Outcome::no_protocol), "no-protocol");
  EXPECT_EQ(to_string(Outcome::not_run), "not-run");
}

TEST(Outcome, OnlyTheFirstFourAreMeasured) {
  std::vector<std::string_view> measured;
  for (std::size_t i = 0; i < kOutcomes.size(); ++i) {
    if (is_measured(static_cast<Outcome>(i))) measured.push_back(kOutcomes.at(i));
  }
  EXPECT_EQ(measured,
            (std::vector<std::string_view>{"zero-copy", "copy", "device-copy", "unproven"}));
}

TEST(Proof, WordsThereAndBack) {
  for (const Proof proof : {Proof::yes, Proof::no, Proof::skipped}) {
    EXPECT_EQ(proof_from(to_string(proof)), proof);
  }
  EXPECT_EQ(to_string(Proof::skipped), "skipped");
  EXPECT_THROW(proof_from("maybe"), UsageError);
}

}  // namespace
