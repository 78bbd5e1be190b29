#include "worker/judging.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <string_view>

#include "exchange/layout.hpp"
#include "exchange/maps.hpp"
#include "exchange/verdict.hpp"
#include "model/judge.hpp"
#include "worker/device_memory.hpp"
#include "worker/extras.hpp"
#include "worker/read.hpp"

namespace dlbench::worker {
namespace {

// What cannot be looked at is said as a warning; a Failure `wrong` stays one.
template <typename Look>
void looked(std::vector<std::string>& warnings, std::string_view what, Look look) {
  try {
    look();
  } catch (const Failure& failure) {
    if (failure.outcome == Outcome::wrong) throw;
    warnings.push_back(std::string(what) + ": " + failure.reason);
  } catch (const exchange::ViewError& error) {
    warnings.push_back(std::string(what) + ": " + error.what());
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
                           std::vector<std::string>& warnings) {
  if (!is_writable(found) || exchange::write_back(source, found) != Proof::no) return;
  warnings.emplace_back("copy on write: the source does not see what is written into the result");
}

// Pinned memory is the host's, whatever its word.
bool lie_apart(const exchange::Device& a, const exchange::Device& b) {
  return a != b && !(exchange::on_host(a) && exchange::on_host(b));
}

}  // namespace

Judgement look_at_both_ends(const Pool& pool, const Library& producer, PyObject* result,
                            const Library& consumer) {
  if (result == Py_None) throw Failure{Outcome::wrong, "", "the consumer returned None"};
  PyObject* source = pool.arrays.front().get();
  const exchange::View& expected = pool.expected->view;
  Judgement judgement;
  exchange::View right;  // where what it should hold was found
  looked(judgement.warnings, kValuesNotChecked, [&] {
    const Held values = read_values(result, consumer);
    if (std::string first = exchange::difference(expected, values.view); !first.empty()) {
      throw Failure{Outcome::wrong, "", std::move(first)};
    }
    judgement.changed = exchange::changed(expected, values.view);
    right = values.view;
  });
  looked(judgement.warnings, "source not checked", [&] {
    const Held values = read_values(source, producer);
    if (values.view == right) return;  // the same memory: it was compared
    if (std::string first = exchange::difference(expected, values.view); !first.empty()) {
      throw Failure{Outcome::wrong, "", "the producer's own array changed: " + first};
    }
  });
  looked(judgement.warnings, "extras not compared", [&] {
    for (std::string& word : dropped(source, producer, result, consumer)) {
      judgement.changed.push_back(std::move(word));
    }
  });
  looked(judgement.warnings, "addresses not compared", [&] {
    const Held from = read_place(source, producer);
    const Held to = read_place(result, consumer);
    judgement.crossed_device = lie_apart(from.view.device, to.view.device);
    judgement.evidence.address = exchange::same_address(from.view, to.view);
    judgement.evidence.write = write_through_anywhere(from.view, to.view);
    if (judgement.evidence.address == Proof::no && judgement.evidence.write == Proof::yes) {
      warn_of_copy_on_write(from.view, to.view, judgement.warnings);
    }
  });
  return judgement;
}

void conclude(Judgement& judgement) {
  Verdict verdict = dlbench::judge(judgement.evidence, judgement.crossed_device);
  judgement.outcome = verdict.outcome;
  for (std::string& warning : verdict.warnings) judgement.warnings.push_back(std::move(warning));
}

}  // namespace dlbench::worker
