#include "worker/judge/judging.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <string_view>

#include "exchange/layout.hpp"
#include "exchange/maps.hpp"
#include "exchange/restated.hpp"
#include "exchange/verdict.hpp"
#include "model/judge.hpp"
#include "worker/library/device_memory.hpp"
#include "worker/library/extras.hpp"
#include "worker/library/read.hpp"

namespace dlbench::worker {
namespace {

// A result that cannot be read becomes a warning. A Failure `wrong` stays one, and so does a result
// of Python objects.
template <typename Look>
void looked(Warnings& warnings, codes::WarningCode code, Look look) {
  try {
    look();
  } catch (const Failure& failure) {
    if (failure.outcome == Outcome::wrong || failure.outcome == Outcome::no_protocol) throw;
    warn(warnings, code, readable(code) + ": " + failure.reason,
         data_of("exception", failure.exception));
  } catch (const exchange::ViewError& error) {
    warn(warnings, code, readable(code) + ": " + error.what());
  }
}

bool is_writable(const exchange::View& view) {
  const exchange::Extent extent = exchange::extent_of(view);
  const auto mappings = exchange::mappings_of(extent.begin, extent.end);
  return !mappings.empty() && std::all_of(mappings.begin(), mappings.end(), [](const auto& one) {
    return (one.protection & PROT_WRITE) != 0;
  });
}

// One memory at two addresses: is it two mappings, or one that is private from its first write on?
void warn_of_copy_on_write(const exchange::View& source, const exchange::View& found,
                           Warnings& warnings) {
  if (!is_writable(found) || exchange::write_back(source, found) != Proof::no) return;
  warn(warnings, "copy-on-write",
       "copy on write: the source does not see what is written into the result");
}

// Pinned memory is host memory, whatever its device type.
bool lie_apart(const exchange::Device& a, const exchange::Device& b) {
  return a != b && !(exchange::on_host(a) && exchange::on_host(b));
}

// The right values of another dtype: what is converted before the exchange is not its doing. (Other
// values are `wrong` below.)
void require_case(const exchange::View& expected, const exchange::View& made) {
  const exchange::View same = exchange::restated(expected, made);
  const bool are_bytes = expected.element_bytes() == 1 && same.element_bytes() == 1;
  if (same.dtype == expected.dtype || are_bytes) return;
  if (!exchange::difference(expected, made).empty()) return;
  throw Failure{Outcome::unsupported, "",
                "the producer's array is of " + exchange::to_string(made.dtype) + ", not of " +
                    exchange::to_string(expected.dtype)};
}

// A copy that was made to read the values has its own strides: only the result's own memory shows a
// changed layout.
std::vector<std::string> changed(const exchange::View& expected, const exchange::View& values,
                                 PyObject* result, const Library& consumer) {
  std::vector<std::string> words = exchange::changed(expected, values);
  const auto layout = std::find(words.begin(), words.end(), "layout");
  if (layout == words.end() || !consumer.function("values")) return words;
  const bool moved = [&] {
    try {
      const exchange::View place = read_place(result, consumer).view;
      if (place.shape != values.shape || place.dtype != values.dtype) return false;
      const std::vector<std::string> own = exchange::changed(expected, place);
      return std::find(own.begin(), own.end(), "layout") != own.end();
    } catch (const Failure&) {
      return false;
    } catch (const exchange::ViewError&) {
      return false;
    }
  }();
  if (!moved) words.erase(layout);
  return words;
}

}  // namespace

Judgement look_at_both_ends(const Pool& pool, const Library& producer, PyObject* result,
                            const Library& consumer) {
  if (result == Py_None) throw Failure{Outcome::wrong, "", "the consumer returned None"};
  PyObject* source = pool.arrays.front().get();
  const exchange::View& expected = pool.expected->view;
  Judgement judgement;
  Ref extras;
  std::vector<unsigned char> missing;
  looked(judgement.warnings, "extras-not-compared", [&] {
    extras = extras_of(source, producer);
    missing = missing_of(extras);
  });
  std::optional<Held> made;
  looked(judgement.warnings, "source-not-checked", [&] { made = read_values(source, producer); });
  if (made && exchange::on_host(made->view.device)) require_case(expected, made->view);
  exchange::View right;  // where what it should hold was found
  bool has_nan = false;
  looked(judgement.warnings, "values-not-checked", [&] {
    const Held values = read_values(result, consumer);
    if (std::string first = exchange::difference(expected, values.view, missing); !first.empty()) {
      throw Failure{Outcome::wrong, "", std::move(first), std::string(codes::kValuesDiffer)};
    }
    has_nan = exchange::has_nan_for(missing, expected, values.view);
    judgement.changed = changed(expected, values.view, result, consumer);
    right = values.view;
  });
  looked(judgement.warnings, "source-not-checked", [&] {
    if (!made || made->view == right) return;  // the same memory: it was compared
    made = read_values(source, producer);
    if (std::string first = exchange::difference(expected, made->view); !first.empty()) {
      throw Failure{Outcome::wrong, "", "the producer's own array changed: " + first,
                    std::string(codes::kSourceChanged)};
    }
  });
  looked(judgement.warnings, "extras-not-compared", [&] {
    const Comparison found = compare_extras(extras, source, producer, result, consumer);
    for (const std::string& word : found.lost) {
      const bool converted = has_nan && (word == "mask" || word == "nulls");
      judgement.changed.push_back(converted ? word + " -> NaN" : word);
    }
    for (const std::string& word : found.undecided) {
      warn(judgement.warnings, "extras-not-compared",
           "extras not compared: no adapter can read " + word +
               " from this result, so whether it was kept is not known",
           {{"extra", word}});
    }
  });
  looked(judgement.warnings, "addresses-not-compared", [&] {
    const Held from = read_place(source, producer);
    const Held to = read_place(result, consumer);
    judgement.crossed_device = lie_apart(from.view.device, to.view.device);
    judgement.evidence.address = exchange::same_address(from.view, to.view);
    judgement.evidence.write = write_through_anywhere(from.view, to.view);
    judgement.same_bytes = from.view.bytes() == to.view.bytes();
    if (judgement.evidence.address == Proof::no && judgement.evidence.write == Proof::yes) {
      warn_of_copy_on_write(from.view, to.view, judgement.warnings);
    }
  });
  return judgement;
}

void conclude(Judgement& judgement) {
  const bool coarser = std::find(judgement.changed.begin(), judgement.changed.end(), "precision") !=
                       judgement.changed.end();
  Verdict verdict = dlbench::judge(judgement.evidence, judgement.crossed_device,
                                   judgement.same_bytes && !coarser);
  judgement.outcome = verdict.outcome;
  warn(judgement.warnings, verdict.warnings);
}

}  // namespace dlbench::worker
