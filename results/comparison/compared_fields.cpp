#include "results/comparison/compared_fields.hpp"

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "model/codes.hpp"
#include "results/comparison/compare.hpp"
#include "results/schema/describe.hpp"

/// The keys of a comparison, which harness/bindings/bind_compare.cpp writes.
namespace dlbench::results::compared_keys {

using Text = std::string_view;
using Texts = std::vector<std::string>;
using Count = std::uint64_t;
using NumberOrNull = OrNull<double>;
using TextOrNull = OrNull<std::string_view>;
using CountOrNull = OrNull<std::uint64_t>;

constexpr double kMost = 1e100;
constexpr Rule kShare{.least = 0, .most = 1, .is_open = true};
constexpr Rule kMoreThanNothing = between(1e-100, kMost);
constexpr Rule kFromZero = between(0, kMost);
constexpr Rule kReplicas = between(1, kMostCount);

struct Side {};
struct Counts {};
struct DetectableChange {};
struct Summary {};
struct LeftOut {};
struct Alarms {};
struct CodedWarning {};
struct Inconclusive {};
struct ComparedCell {};
struct Comparison {};

}  // namespace dlbench::results::compared_keys

namespace dlbench::results {

template <>
inline constexpr Definition kDefinition<compared_keys::Side>{"side"};
template <>
inline constexpr Definition kDefinition<compared_keys::CodedWarning>{"warning"};
template <>
inline constexpr Definition kDefinition<compared_keys::ComparedCell>{"cell"};

}  // namespace dlbench::results

namespace dlbench::results::compared_keys {

template <typename Io>
void fields(Io& io, Side&) {
  io("runs", Texts(), kAny.items(1));
  io("environment", Text(), "The environment whose cells were compared; empty: all.");
  io("date", Text(), "");
  io("python", Text(), "");
  io("libraries", std::map<std::string, std::string>(), "");
}

template <typename Io>
void fields(Io& io, Counts&) {
  for (const std::string_view word : kChangeWords) io(word, Count(), "");
  for (const std::string_view word : std::span(kOutcomeChanges).subspan(1)) io(word, Count(), "");
  for (const std::string_view word : std::span(kPresences).subspan(1)) io(word, Count(), "");
}

template <typename Io>
void fields(Io& io, DetectableChange&) {
  io("least", double(), kFromZero);
  io("median", double(), kFromZero);
  io("most", double(), kFromZero);
}

template <typename Io>
void fields(Io& io, Summary&) {
  io("cells", Count(), "");
  io("of", Count(), "");
  io("replicas", CountOrNull(),
     {kReplicas,
      "Number of processes for each side with which a change of the threshold is detected with a "
      "probability of 99 % in each of these cells, except unknown and undecidable ones; null "
      "without such a cell."});
  io("unknown", Count(), "Number of these cells whose spread between processes is unknown.");
  io("undecidable", Count(),
     "Number of these cells that no number of processes up to 60 can decide.");
}

template <typename Io>
void fields(Io& io, LeftOut&) {
  io("base", Count(), "");
  io("head", Count(), "");
}

template <typename Io>
void fields(Io& io, Alarms&) {
  io("cells", Count(), "");
  io("alarms", Count(), "");
  io("outside_95", Count(), "");
}

template <typename Io>
void fields(Io& io, CodedWarning&) {
  static const std::string kCodes = joined(codes::kComparisonWarnings);
  io("code", Text(), {words(kCodes), "Code for programs; the reference lists the meanings."});
  io("text", Text(), "Text for people; it may change.");
  io.known("data", std::map<std::string, std::string>(), "The names and numbers in the text.");
}

template <typename Io>
void fields(Io& io, Inconclusive&) {
  static const std::string kCauses = joined(kInconclusiveCauses);
  io("code", Text(), words(kCauses));
  io("replicas", CountOrNull(), kReplicas);
}

template <typename Io>
void fields(Io& io, ComparedCell&) {
  static const std::string kPresence = joined(kPresences), kVerdicts = joined(kChangeWords),
                           kChanges = joined(std::span(kOutcomeChanges).subspan(1));
  io("name", Text(), "");
  for (const char* const axis :
       {"phase", "clock", "producer", "consumer", "protocol", "device", "case"}) {
    io(axis, Text(), kAxis);
  }
  io("bytes", Count(), "");
  io("environment", Text(), "");
  io("machine", Text(), "Name of the machine; empty unless a document has several machines.");
  io("presence", Text(),
     {words(kPresence),
      "Cells that neither side has are left out. For counts, a cell that one side timed but did "
      "not count is also lost or gained."});
  io("base_outcome", TextOrNull(),
     "If workers disagree, the weakest claim. For a cell that was exchanged but not timed, the "
     "outcome that was found.");
  io("head_outcome", TextOrNull(), "");
  io("base", NumberOrNull(), {kMoreThanNothing, "In ns, or in instructions."});
  io("head", NumberOrNull(), kMoreThanNothing);
  io("base_workers", Count(), "");
  io("head_workers", Count(), "");
  io("ratio", NumberOrNull(), {kMoreThanNothing, "Head over base."});
  io("lo", NumberOrNull(), {kMoreThanNothing, "With hi: 95 % interval of the ratio."});
  io("hi", NumberOrNull(), kMoreThanNothing);
  io("p", NumberOrNull(),
     {between(0, 1), "p-value of no change, adjusted for all cells; null for counts."});
  io("spread", NumberOrNull(), {kFromZero, "Relative standard deviation between processes."});
  io("minimum_detectable_change", NumberOrNull(), kFromZero);
  io("verdict", TextOrNull(), words(kVerdicts));
  io("inconclusive", OrNull<Inconclusive>(),
     "For an INCONCLUSIVE cell: the cause, and the number of processes for each side that would "
     "detect a change of the threshold.");
  io("outcome_change", TextOrNull(), words(kChanges));
  io("details", Texts(), "");
}

template <typename Io>
void fields(Io& io, Comparison&) {
  io("dlbench_comparison", Count(), between(1, 1));
  io("version", Text(), "");
  io("metric", Text(), words("time instructions"));
  io("threshold", double(), {kShare, "Relative change up to which a cell counts as unchanged."});
  io("false_alarms", double(),
     {kShare,
      "Probability that any cell is SLOW or FAST although nothing changed. In a comparison in "
      "stages: the share of the last analysis."});
  io("base", Side(), "");
  io("head", Side(), "");
  io("counts", Counts(), "Number of cells by verdict, by change of outcome, and by presence.");
  io("minimum_detectable_change", OrNull<DetectableChange>(),
     "Minimum detectable change: the smallest relative change that would have been SLOW or FAST, "
     "over the cells; null if no cell can detect a change.");
  io("inconclusive", Summary(),
     "The INCONCLUSIVE cells, and the number of cells with a time on both sides.");
  io("left_out", LeftOut(),
     "Number of cells of one side that the options of the other side did not request. They are "
     "not in `cells`.");
  io("warnings", std::vector<CodedWarning>(), "");
  io.known("aa", Alarms(),
           "With --aa: the number of cells, of those that were reported as changed, and of those "
           "whose own 95 % interval excludes 1.");
  io("cells", std::vector<ComparedCell>(), "Sorted by name.");
}

}  // namespace dlbench::results::compared_keys

namespace dlbench::results {

OrderedJson describe_comparison() {
  return Describe::document(
      {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
       {"$id", "urn:dlbench:comparison:1"},
       {"title", "A dlbench comparison, schema 1"},
       {"description",
        "The output of `dlbench compare --json`. Times are medians in nanoseconds. New keys may be "
        "added; a change of a key's meaning changes `dlbench_comparison`."}},
      OrderedJson::object(), [](Describe& io) {
        compared_keys::Comparison comparison;
        fields(io, comparison);
      });
}

void check_comparison(const Fields& comparison) {
  Get get(comparison);
  compared_keys::Comparison whole;
  fields(get, whole);
}

}  // namespace dlbench::results
