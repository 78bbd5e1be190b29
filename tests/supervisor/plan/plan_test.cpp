#include "supervisor/plan/plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <vector>

#include "model/error.hpp"

namespace dlbench::plan {
namespace {

Library library(const std::string& name) {
  Library made;
  made.name = name;
  made.installed = true;
  made.version = "1.0";
  made.producer_path = "producers/" + name + ".py";
  made.consumer_path = "consumers/" + name + ".py";
  made.protocols = {"dlpack", "convert"};
  return made;
}

std::vector<Library> some() {
  std::vector<Library> libraries{library("numpy"), library("jax"), library("dpnp")};
  libraries[1].has_ready = true;
  libraries[2].devices = {"sycl:0"};
  Library absent = library("torch");
  absent.installed = false;
  absent.why_not = "pip install torch";
  libraries.push_back(absent);
  return libraries;
}

Axes small() {
  Axes axes;
  axes.sizes = {4096};
  axes.protocols = {"dlpack"};
  return axes;
}

std::string error_of(const Axes& axes) {
  try {
    make(some(), axes);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

std::vector<const Entry*> excluded_with(const Plan& plan, Outcome outcome) {
  std::vector<const Entry*> found;
  for (const Entry& entry : plan.excluded) {
    if (entry.outcome == outcome) found.push_back(&entry);
  }
  return found;
}

TEST(Plan, DefaultsTakeInstalledLibrariesThreeProtocolsThreeSizes) {
  const Plan plan = make({library("numpy")}, Axes{});
  ASSERT_EQ(plan.cells.size(), 6u);  // dlpack and convert at three sizes
  EXPECT_EQ(
      name(plan.cells[0]),
      "exchange/producer:numpy/consumer:numpy/protocol:dlpack/device:cpu/case:f32/bytes:4096");
  EXPECT_EQ(plan.cells[1].exchange.bytes, 256u << 10);
  EXPECT_EQ(plan.cells[2].exchange.bytes, 4u << 20);
  EXPECT_EQ(excluded_with(plan, Outcome::no_protocol).size(), 3u);
  EXPECT_EQ(plan.excluded.front().reason, "numpy has no call for dlpack_c");
  EXPECT_EQ(plan.excluded.front().code, "not-imported");
}

TEST(Plan, OnlyCallsHaveANumberOfArrays) {
  std::vector<Library> libraries = some();
  libraries[0].protocols.push_back("call");
  libraries[2].devices = {"cpu"};
  libraries[2].protocols = {"call"};
  Axes axes = small();
  axes.protocols = {"call", "dlpack"};
  axes.producers = {"jax"};
  axes.arrays = {8, 0, 8};
  const Plan plan = make(libraries, axes);
  std::multiset<std::string> found;
  for (const Cell& cell : plan.cells) {
    const Exchange& x = cell.exchange;
    if (cell.clock == "call") {
      found.insert(x.consumer + " " + x.protocol + " " + std::to_string(x.arrays));
    }
  }
  // jax only imports, and dpnp only calls.
  EXPECT_EQ(found, (std::multiset<std::string>{"dpnp call 0", "dpnp call 8", "jax dlpack 1",
                                               "numpy call 0", "numpy call 8", "numpy dlpack 1"}));
  EXPECT_TRUE(plan.excluded.empty());
  axes.protocols = {"dlpack"};
  EXPECT_EQ(error_of(axes),
            "only calls have several arrays: add --protocols call, or leave out --arrays");
  axes.protocols = {"call"};
  axes.arrays = {65};
  EXPECT_EQ(error_of(axes), "a call cannot have 65 arrays; allowed: 0 to 64");
  axes.arrays = {};
  axes.consumers = {"jax"};
  EXPECT_EQ(make(libraries, axes).excluded.front().reason, "jax has no function of arrays");
  axes.protocols = {"all"};
  axes.consumers = {"dpnp"};
  for (const Cell& cell : make(libraries, axes).cells) EXPECT_NE(cell.exchange.protocol, "call");
}

TEST(Plan, ReadyIsAClockOfItsOwnOnlyWhereTheConsumerHasOne) {
  Axes axes = small();
  axes.producers = {"numpy"};
  axes.consumers = {"jax", "numpy"};
  const Plan plan = make(some(), axes);
  ASSERT_EQ(plan.cells.size(), 3u);
  EXPECT_EQ(std::count_if(plan.cells.begin(), plan.cells.end(),
                          [](const Cell& cell) { return cell.clock == "ready"; }),
            1);
}

TEST(Plan, EveryCellOfTheProductIsTriedOrExcludedOnce) {
  Axes axes = small();
  axes.producers = {"numpy", "jax", "dpnp", "torch"};
  axes.consumers = axes.producers;
  axes.devices = {"cpu", "sycl:0", "cuda:0"};
  axes.cases = {"f32", "i64"};
  const Plan plan = make(some(), axes);
  std::set<std::string> names;
  for (const Cell& cell : plan.cells) names.insert(name(cell));
  for (const Entry& entry : plan.excluded) names.insert(name(entry.cell));
  EXPECT_EQ(names.size(), plan.cells.size() + plan.excluded.size());
  // jax as a consumer has two clocks, and on a GPU everybody has three.
  EXPECT_EQ(names.size(), 4u * 2 * (2 * (3 + 2) + 4 * 3));
}

TEST(Plan, PairsAreInTheOrderAskedForSelfFirstAndKnowTheirCells) {
  Axes axes = small();
  axes.producers = {"numpy", "jax"};
  axes.consumers = axes.producers;
  const Plan plan = make(some(), axes);
  ASSERT_EQ(plan.pairs.size(), 3u);
  EXPECT_EQ(plan.pairs[0].first, "numpy");
  EXPECT_EQ(plan.pairs[1].second, "jax");
  EXPECT_EQ(plan.pairs[2].first, "numpy");
  EXPECT_EQ(plan.pairs[2].second, "jax");
  EXPECT_EQ(plan.pairs[2].cells.size(), 3u);  // both directions, one with two clocks
  std::size_t next = 0;
  for (const Pair& pair : plan.pairs) {
    for (const std::size_t cell : pair.cells) EXPECT_EQ(cell, next++);
  }
  EXPECT_EQ(next, plan.cells.size());
}

TEST(Plan, APairWithoutCellsIsDropped) {
  Axes axes = small();
  axes.producers = {"numpy", "torch"};
  axes.consumers = {"numpy"};
  const Plan plan = make(some(), axes);
  EXPECT_EQ(plan.pairs.size(), 1u);
  const auto missing = excluded_with(plan, Outcome::not_installed);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0]->reason, "pip install torch");
}

TEST(Plan, WhatIsNotInstalledIsSilentUnlessNamed) {
  const Plan plan = make(some(), small());
  EXPECT_TRUE(excluded_with(plan, Outcome::not_installed).empty());
}

TEST(Plan, ALibraryOutsideTheDefaultMatrixComesWithAll) {
  std::vector<Library> libraries = some();
  libraries[1].in_default_matrix = false;
  Axes axes = small();
  axes.consumers = {"numpy"};
  EXPECT_EQ(make(libraries, axes).pairs.size(), 2u);  // numpy, and dpnp on its device
  axes.producers = {"all"};
  const Plan plan = make(libraries, axes);
  EXPECT_EQ(plan.pairs.size(), 3u);
  EXPECT_EQ(excluded_with(plan, Outcome::not_installed).size(), 1u);
}

TEST(Plan, AHiddenLibraryComesOnlyByItsName) {
  std::vector<Library> libraries = some();
  libraries[1].hidden = true;
  Axes axes = small();
  axes.consumers = {"numpy"};
  axes.producers = {"all"};
  const std::size_t others = make(libraries, axes).pairs.size();
  axes.producers = {"all", libraries[1].name};
  EXPECT_EQ(make(libraries, axes).pairs.size(), others + 1);
  axes.producers = {libraries[1].name};
  EXPECT_EQ(make(libraries, axes).pairs.size(), 1u);
}

TEST(Plan, DefaultDevicesGiveNoPileOfNoDevice) {
  const Plan plan = make(some(), small());
  for (const Entry* entry : excluded_with(plan, Outcome::no_device)) {
    EXPECT_EQ(entry->cell.exchange.producer, "dpnp");
    EXPECT_EQ(entry->reason, "dpnp has no arrays on cpu; its devices: sycl:0");
    EXPECT_EQ(entry->code, "no-arrays-there");
  }
  EXPECT_EQ(excluded_with(plan, Outcome::no_device).size(), 4u);  // 3 consumers, one of two clocks
  EXPECT_TRUE(std::any_of(plan.cells.begin(), plan.cells.end(),
                          [](const Cell& cell) { return cell.exchange.device == "sycl:0"; }));
}

TEST(Plan, OneRoleOnlyIsSaid) {
  std::vector<Library> libraries = some();
  libraries[0].producer_path.clear();
  Axes axes = small();
  axes.producers = {"numpy", "jax"};
  axes.consumers = {"numpy", "jax"};
  const Plan plan = make(libraries, axes);
  const auto missing = excluded_with(plan, Outcome::unsupported);
  ASSERT_FALSE(missing.empty());
  EXPECT_EQ(missing[0]->reason, "dlbench has no producer adapter for numpy");
  EXPECT_EQ(missing[0]->code, "no-adapter");
}

TEST(Plan, NamedInAnotherEnvironmentOnly) {
  std::vector<Library> libraries = some();
  libraries.push_back(library("mxnet"));
  libraries.back().environment = "old";
  Axes axes = small();
  axes.environments = {"default", "old"};
  axes.producers = axes.consumers = {"mxnet"};
  const Plan plan = make(libraries, axes);
  ASSERT_EQ(plan.pairs.size(), 1u);
  EXPECT_EQ(plan.pairs[0].environment, "old");
  ASSERT_EQ(plan.excluded.size(), 1u);
  EXPECT_EQ(plan.excluded[0].reason, "not known in environment 'default'");
}

TEST(Plan, CellsOfALibraryThatIsNotThereSettleAsWhatTookItAway) {
  std::vector<Library> libraries{library("numpy"), library("numpy")};
  libraries.back().environment = "old";
  libraries.back().installed = false;
  libraries.back().absence = Outcome::timed_out;
  libraries.back().why_not = "no answer";
  Axes axes = small();
  axes.environments = {"default", "old"};
  axes.producers = axes.consumers = {"numpy"};
  const Plan plan = make(libraries, axes);
  EXPECT_EQ(plan.cells.size(), 1u);
  ASSERT_EQ(plan.excluded.size(), 1u);
  EXPECT_EQ(plan.excluded[0].outcome, Outcome::timed_out);
  EXPECT_EQ(plan.excluded[0].reason, "no answer");
  EXPECT_EQ(plan.excluded[0].cell.exchange.environment, "old");
}

TEST(Plan, FilterKeepsWhatMatches) {
  Axes axes = small();
  axes.filter = "producer:numpy/consumer:jax/.*/clock:ready";
  const Plan plan = make(some(), axes);
  ASSERT_EQ(plan.cells.size(), 1u);
  EXPECT_TRUE(plan.excluded.empty());
}

TEST(Plan, SizesAreSortedAndTakenOnce) {
  Axes axes = small();
  axes.sizes = {8192, 4096, 8192};
  const Plan plan = make({library("numpy")}, axes);
  ASSERT_EQ(plan.cells.size(), 2u);
  EXPECT_EQ(plan.cells[0].exchange.bytes, 4096u);
}

TEST(Plan, BadInputIsNamed) {
  Axes axes = small();
  axes.producers = {"nunpy"};
  EXPECT_NE(error_of(axes).find("did you mean 'numpy'"), std::string::npos);
  axes = small();
  axes.protocols = {"dlpak"};
  EXPECT_NE(error_of(axes).find("did you mean 'dlpack'"), std::string::npos);
  axes = small();
  axes.devices = {"gpu"};
  EXPECT_NE(error_of(axes).find("unknown device 'gpu'"), std::string::npos);
  axes = small();
  axes.cases = {"f99"};
  EXPECT_NE(error_of(axes).find("unknown case 'f99'"), std::string::npos);
  axes = small();
  axes.sizes = {2};
  EXPECT_NE(error_of(axes).find("size 2 B does not fit case"), std::string::npos);
  axes = small();
  axes.filter = "(";
  EXPECT_NE(error_of(axes).find("not a regular expression"), std::string::npos);
}

std::vector<std::string> names_of(const std::vector<std::string>& words) {
  std::vector<std::string> names;
  for (const Case& one : cases_of(words)) names.push_back(one.name);
  return names;
}

using Names = std::vector<std::string>;

TEST(Cases, AxesAreCombinedAndNamesAreAddedToThem) {
  EXPECT_EQ(
      names_of({"dtype=bf16", "c64 layout=c", "fortran property=readonly"}),
      (Names{"bf16-readonly", "bf16-fortran-readonly", "c64-readonly", "c64-fortran-readonly"}));
  EXPECT_EQ(names_of({"f32", "f64 storage=view"}), (Names{"f32", "f64", "f32-view"}));
  EXPECT_EQ(names_of({"layout=all"}), (Names{"f32", "f32-strided", "f32-reversed", "f32-odd",
                                             "f32-fortran", "f32-broadcast", "f32-windows"}));
  EXPECT_EQ(names_of({}), Names{"f32"});
  EXPECT_EQ(names_of({"dtype=f6,f6"}), (Names{"f6e2m3fn", "f6e3m2fn"}));
  EXPECT_EQ(names_of({"dtype=f8"}).size(), 8u);
  EXPECT_EQ(names_of({"dtype=u8,i16 shape=1d,huge"}), (Names{"u8", "u8-huge", "i16"}));
  EXPECT_EQ(names_of({"c32-conj", "f32-0d-view", "i16-nulls"}).size(), 3u);
}

TEST(Cases, TheOrderOfWordsAndUsualValuesDoNotMatter) {
  EXPECT_EQ(case_named("f32-readonly-fortran"), case_named("f32-2d-fortran-readonly"));
  EXPECT_EQ(case_named("f32-1d-c-usual-plain").name, "f32");
  EXPECT_EQ(with_usual_names("readonly-fortran-f32/|a-z|native-2d"),
            "f32-fortran-readonly/|a-z|native-2d");
  EXPECT_EQ(with_usual_names("case:.*-readonly-view/"), "case:.*-view-readonly/");
  EXPECT_TRUE(is_case("c64-conj"));
  EXPECT_FALSE(is_case("f32-conj"));
}

std::string why_no_case(const std::string& words) {
  try {
    cases_of({words});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Cases, EachWordIsReadOnceAndNoneIsPassedOver) {
  EXPECT_NE(why_no_case("all,foo").find("unknown case 'foo'"), std::string::npos);
  EXPECT_NE(why_no_case("dtype=all,foo").find("axis dtype 'foo'"), std::string::npos);
  EXPECT_NE(why_no_case("dtype=bf16 dtype=f64").find("dtype is selected twice"), std::string::npos);
  EXPECT_NE(why_no_case("f32-masked").find("--producers numpy_ma"), std::string::npos);
  EXPECT_NE(why_no_case("property=meta").find("--producers torch:meta"), std::string::npos);
  for (const char* const name : {"-f32", "f32-", "f32--2d"}) {
    EXPECT_NE(why_no_case(name).find("a word beside '-' is missing"), std::string::npos) << name;
  }
  for (const char* const words : {"dtype=bf16,layout=all", "f32-2d,dtype=bf16"}) {
    EXPECT_NE(why_no_case(words).find("a space separates"), std::string::npos) << words;
  }
  EXPECT_EQ(cases_of({"f32", "all"}).size(), all_cases().size());
  EXPECT_NE(why_no_case("u8-odd").find("odd and u8 are not combined"), std::string::npos);
}

TEST(Cases, WhatIsUnknownOrImpossibleIsNamed) {
  EXPECT_NE(why_no_case("f32-fotran").find("(did you mean 'fortran'?)"), std::string::npos);
  EXPECT_NE(why_no_case("f32-0d-strided").find("strided and 0d are not combined"),
            std::string::npos);
  EXPECT_NE(why_no_case("f32-f64").find("two values of the axis dtype"), std::string::npos);
  EXPECT_NE(why_no_case("strided").find("no dtype: write f32-strided"), std::string::npos);
  EXPECT_NE(why_no_case("dtyp=f32").find("unknown axis of cases 'dtyp' (did you mean 'dtype'?)"),
            std::string::npos);
  EXPECT_NE(why_no_case("layout=rows").find("unknown value of the axis layout 'rows'"),
            std::string::npos);
  EXPECT_NE(why_no_case("dtype=i8 property=conj").find("no array has"), std::string::npos);
}

TEST(Cases, AllHoldsEachPossiblePairOfValues) {
  std::set<std::string> there;
  const auto pairs = [](const Case& one, const auto& visit) {
    const std::string property = one.readonly          ? "readonly"
                                 : one.special.empty() ? "plain"
                                                       : one.special;
    const std::array values{one.dtype, one.dims, one.layout, one.storage, property};
    for (std::size_t a = 0; a < values.size(); ++a) {
      for (std::size_t b = a + 1; b < values.size(); ++b) visit(values[a] + "+" + values[b]);
    }
  };
  for (const Case& one : all_cases()) {
    EXPECT_EQ(case_named(one.name), one);
    pairs(one, [&](const std::string& pair) { there.insert(pair); });
  }
  const std::vector<Case> possible =
      cases_of({"dtype=all shape=all layout=all storage=all property=all"});
  EXPECT_LT(all_cases().size() * 20, possible.size());
  for (const Case& one : possible) {
    pairs(one, [&](const std::string& pair) {
      if (!there.contains(pair)) ADD_FAILURE() << pair;
    });
  }
}

TEST(Plan, ACaseOfNoOrOneElementHasItsOwnSize) {
  Axes axes = small();
  EXPECT_EQ(sizes_of(case_named("u8-huge"), {4096}), std::vector{(std::uint64_t{1} << 31) + 4096});
  axes.cases = {"f32-0d", "f32-empty"};
  axes.sizes = {4096, 8192};
  for (const Cell& cell : make(some(), axes).cells) {
    EXPECT_EQ(cell.exchange.bytes, cell.exchange.case_name == "f32-0d" ? 4u : 0u);
  }
}

TEST(Plan, FingerprintChangesWithCellsAndVersionsOnly) {
  const std::string before = make(some(), small()).fingerprint;
  EXPECT_EQ(before.size(), 16u);
  EXPECT_EQ(make(some(), small()).fingerprint, before);
  std::vector<Library> other = some();
  other[0].version = "1.1";
  EXPECT_NE(make(other, small()).fingerprint, before);
  Axes axes = small();
  axes.sizes = {8192};
  EXPECT_NE(make(some(), axes).fingerprint, before);
}

TEST(Plan, AHundredThousandCells) {
  std::vector<Library> libraries;
  for (int i = 0; i < 20; ++i) libraries.push_back(library("lib" + std::to_string(i)));
  Axes axes;
  axes.protocols = {"dlpack", "convert"};
  axes.cases = {"f32",  "f64", "i32",    "i64",        "u8",
                "bool", "c64", "f32-2d", "f32-align4", "f32-readonly"};
  for (std::uint64_t i = 1; i <= 15; ++i) axes.sizes.push_back(i * 4096);
  const Plan plan = make(libraries, axes);
  EXPECT_EQ(plan.cells.size(), 120000u);
  EXPECT_EQ(plan.pairs.size(), 20u + 190u);
}

TEST(Plan, PhasesAreCellsOfTheClockCallBesideTheExchange) {
  Axes axes = small();
  axes.producers = {"numpy"};
  axes.consumers = {"jax"};
  axes.phases = {"all"};
  const Plan plan = make(some(), axes);
  std::vector<std::string> found;
  for (const Cell& cell : plan.cells) found.push_back(cell.phase + "/" + cell.clock);
  EXPECT_EQ(found, (std::vector<std::string>{"exchange/call", "exchange/ready", "query/call",
                                             "export/call", "import/call", "release/call"}));
  axes.phases = {};
  const Plan usual = make(some(), axes);
  EXPECT_EQ(usual.cells.size(), 2U);
  EXPECT_NE(usual.fingerprint, plan.fingerprint);
}

TEST(Plan, AnUnknownPhaseIsNamedWithTheNearest) {
  Axes axes = small();
  axes.phases = {"exprt"};
  EXPECT_EQ(error_of(axes),
            "unknown phase 'exprt' (did you mean 'export'?); allowed: exchange, query, export, "
            "import, release");
}

TEST(Plan, ADeviceThatTheMachineHasNotSaysWhy) {
  Axes axes = small();
  axes.devices = {"cpu", "cuda", "rocm:1", "cuda:0+rocm:0", "sycl:0"};
  axes.device_kinds = {{"cuda", 0, "cuda: no-library: none found"}, {"rocm", 1, ""}};
  std::vector<Library> libraries{library("torch")};
  libraries[0].devices = {"cpu", "cuda:0", "rocm:0", "rocm:1"};
  const Plan plan = make(libraries, axes);
  std::set<std::string> reasons;
  for (const Entry* entry : excluded_with(plan, Outcome::no_device)) {
    reasons.insert(entry->cell.exchange.device + ": " + entry->reason);
  }
  EXPECT_EQ(reasons,
            (std::set<std::string>{
                "cuda:0: cuda: no-library: none found",
                "cuda:0+rocm:0: cuda: no-library: none found",
                "rocm:1: no rocm:1 here: rocm has 1 device",
                "sycl:0: torch has no arrays on sycl:0; its devices: cpu, cuda:0, rocm:0, rocm:1",
            }));
  EXPECT_EQ(plan.cells.size(), 1U);
  axes.devices = {"cuda:99999999999999999999"};
  axes.device_kinds = {{"cuda", 2, ""}};
  EXPECT_NE(make(libraries, axes).excluded.at(0).reason.find("cuda has 2 devices"),
            std::string::npos);
}

}  // namespace
}  // namespace dlbench::plan
