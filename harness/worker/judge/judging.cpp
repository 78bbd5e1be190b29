#include "worker/judge/judging.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <string_view>

#include "exchange/dtype.hpp"
#include "exchange/guard/maps.hpp"
#include "exchange/layout.hpp"
#include "exchange/verdict.hpp"
#include "model/contains.hpp"
#include "model/judge.hpp"
#include "worker/arrays/extras.hpp"
#include "worker/arrays/read.hpp"
#include "worker/judge/values.hpp"
#include "worker/library/device_memory.hpp"

namespace dlbench::worker {
namespace {

// Turns a failed read into a warning.
template <typename Read>
void warn_if_unreadable(Warnings& warnings, codes::WarningCode code, Read read) {
  try {
    read();
  } catch (const Failure& failure) {
    warn(warnings, code, readable(code) + ": " + failure.reason,
         data_of("exception", failure.exception));
  } catch (const exchange::ViewError& error) {
    warn(warnings, code, readable(code) + ": " + error.what());
  }
}

// Is the description impossible, or one of Python objects?
bool is_fault(const Failure& failure) {
  return failure.outcome == Outcome::wrong || failure.outcome == Outcome::no_protocol;
}

// Shared memory with two addresses is either mapped twice or copied on the first write.
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

// A copy that dlbench made to read the values has other strides, so compare the layout of the
// result's own memory.
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
      return contains(own, "layout");
    } catch (const Failure&) {
      return false;
    } catch (const exchange::ViewError&) {
      return false;
    }
  }();
  if (!moved) words.erase(layout);
  return words;
}

// Which of two arrays that share memory may be written to; empty if one is not described.
std::string writable_ends(Writable source, Writable result) {
  if (source == Writable::unknown || result == Writable::unknown) return {};
  if (source == result) return source == Writable::yes ? "both" : "neither";
  return source == Writable::yes ? "source" : "result";
}

// All empty arrays of a library may have one address.
bool lies_with_other_empties(const exchange::View& source, const Pool& pool,
                             const Library& producer) {
  return source.elements() == 0 && pool.arrays.size() > 1 &&
         read_place(pool.arrays[1].get(), producer).view.address == source.address;
}

// The import of one library may replace the type of another's arrays.
void warn_if_foreign(Warnings& warnings, PyObject* source, const Library& producer) try {
  const Ref loading = checked(PyImport_ImportModule("dlbench.loading"));
  const Ref type = checked(
      PyObject_CallMethod(loading.get(), "foreign_type", "OO", source, producer.producer.get()));
  std::string name = text_of(type.get());
  if (name.empty()) return;
  warn(warnings, "foreign-type", "the producer's array is of another library's type: " + name,
       {{"type", name}});
} catch (const Failure&) {
  // A type without a module or name is not another library's.
}

}  // namespace

bool is_writable(const exchange::View& view) {
  if (!exchange::on_host(view.device)) return !view.readonly;
  const exchange::Extent extent = exchange::extent_of(view);
  const auto mappings = exchange::mappings_of(extent.begin, extent.end);
  return !view.readonly && !mappings.empty() &&
         std::all_of(mappings.begin(), mappings.end(),
                     [](const auto& one) { return (one.protection & PROT_WRITE) != 0; });
}

Judgement judge_result(const Pool& pool, const Library& producer, PyObject* result,
                       const Library& consumer) {
  if (result == Py_None) throw Failure{Outcome::wrong, "", "the consumer returned None"};
  PyObject* source = pool.arrays.front().get();
  const exchange::View& expected = pool.expected->view;
  Judgement judgement;
  judgement.is_same_type = Py_TYPE(result) == Py_TYPE(source);
  Ref extras;
  std::vector<unsigned char> missing;
  warn_if_unreadable(judgement.warnings, "extras-not-compared", [&] {
    extras = extras_of(source, producer);
    missing = missing_of(extras);
  });
  warn_if_foreign(judgement.warnings, source, producer);
  std::optional<Held> made;
  bool has_bad_source = false;
  warn_if_unreadable(judgement.warnings, "source-not-checked", [&] {
    try {
      made = read_values(source, producer);
    } catch (const Failure& failure) {
      has_bad_source = is_fault(failure);
      throw;
    }
  });
  exchange::View right;  // a view with the right values
  bool has_nan = false;
  std::string differs;
  std::string wrong_export;  // by which two ways of reading an array without a known address differ
  std::optional<Failure> fault;
  warn_if_unreadable(judgement.warnings, "values-not-checked", [&] {
    try {
      ComparedValues values = compare_values(expected, result, consumer, missing);
      differs = std::move(values.difference);
      if (!differs.empty()) return;
      if (!values.disagreement.empty()) {
        if (!consumer.function("address")) wrong_export = values.disagreement;
        throw Failure{Outcome::unproven, "", std::move(values.disagreement)};
      }
      has_nan = exchange::has_nan_for(missing, expected, values.read.view);
      const bool has_own_shape = made && !made->view.untyped &&
                                 made->view.shape != expected.shape &&
                                 made->view.elements() == expected.elements();
      const exchange::View& before = has_own_shape ? made->view : expected;
      if (result != source) {
        judgement.changed = changed(before, values.read.view, result, consumer);
      }
      right = values.read.view;
      judgement.has_right_values = true;
    } catch (const exchange::UnknownFormatError&) {
      if (expected.dtype == exchange::kObjects) judgement.changed = {"dtype"};
      throw;
    } catch (const Failure& failure) {
      // If the producer describes its array as badly, that is not the consumer's fault.
      if (!is_fault(failure) || has_bad_source) throw;
      fault = failure;
    }
  });
  if (fault) throw Failure(*fault);
  if (!differs.empty()) {
    throw Failure{Outcome::wrong, "", std::move(differs), std::string(codes::kValuesDiffer)};
  }
  warn_if_unreadable(judgement.warnings, "source-not-checked", [&] {
    if (!made || made->view == right) return;  // the same memory was compared above
    ComparedValues values = compare_values(expected, source, producer, missing);
    differs = std::move(values.difference);
    if (!values.disagreement.empty()) {
      if (!producer.function("address")) wrong_export = values.disagreement;
      throw Failure{Outcome::unproven, "", std::move(values.disagreement)};
    }
  });
  if (!differs.empty()) {
    throw Failure{Outcome::wrong, "", "the producer's own array changed: " + differs,
                  std::string(codes::kSourceChanged)};
  }
  warn_if_unreadable(judgement.warnings, "extras-not-compared", [&] {
    const Comparison found = compare_extras(extras, source, producer, result, consumer);
    for (const std::string& word : found.lost) {
      const bool converted = has_nan && (word == "mask" || word == "nulls");
      judgement.changed.push_back(converted ? word + " -> NaN" : word);
    }
    for (const std::string& word : found.undecided) {
      warn(judgement.warnings, "extras-not-compared",
           "extras not compared: no adapter can read " + word +
               " from this result, so it is unknown whether it was kept",
           {{"extra", word}});
    }
  });
  warn_if_unreadable(judgement.warnings, "addresses-not-compared", [&] {
    if (result == source) judgement.evidence.address = Proof::yes;
    if (!wrong_export.empty()) throw Failure{Outcome::unproven, "", std::move(wrong_export)};
    const Held from = read_place(source, producer);
    const Held to = read_place(result, consumer);
    judgement.crossed_device = lie_apart(from.view.device, to.view.device);
    judgement.evidence.address = exchange::same_address(from.view, to.view);
    if (lies_with_other_empties(from.view, pool, producer)) {
      judgement.evidence.address = Proof::skipped;
    }
    const bool is_empty = from.view.elements() == 0 || to.view.elements() == 0;
    if (is_empty && judgement.evidence.address == Proof::skipped) {
      throw Failure{Outcome::unproven, "",
                    "the addresses of arrays without elements show neither sharing nor a copy"};
    }
    if (is_writable(from.view)) {
      judgement.evidence.write = write_through_anywhere(from.view, to.view);
    }
    judgement.same_bytes = from.view.bytes() == to.view.bytes();
    const bool is_shared =
        judgement.evidence.address == Proof::yes || judgement.evidence.write == Proof::yes;
    if (is_shared) {
      judgement.writable = writable_ends(writable_place(source, producer, from.view.address),
                                         writable_place(result, consumer, to.view.address));
    }
    if (judgement.evidence.address == Proof::no && judgement.evidence.write == Proof::yes) {
      warn_of_copy_on_write(from.view, to.view, judgement.warnings);
    }
  });
  return judgement;
}

void conclude(Judgement& judgement) {
  const bool coarser = contains(judgement.changed, "precision");
  Verdict verdict = dlbench::judge(judgement.evidence, judgement.crossed_device,
                                   judgement.same_bytes && !coarser);
  judgement.outcome = verdict.outcome;
  if (verdict.outcome != Outcome::zero_copy) judgement.writable.clear();
  if (judgement.writable == "result") add_new(judgement.changed, "protection");
  if (judgement.writable == "source") add_new(judgement.changed, "read-only");
  warn(judgement.warnings, verdict.warnings);
}

}  // namespace dlbench::worker
