#include "worker/judging.hpp"

#include "exchange/verdict.hpp"
#include "model/judge.hpp"
#include "worker/read.hpp"

namespace dlbench::worker {
namespace {

// What cannot be looked at is said as a warning; a Failure `wrong` stays one.
template <typename Look>
void looked(std::vector<std::string>& warnings, const char* what, Look look) {
  try {
    look();
  } catch (const Failure& failure) {
    if (failure.outcome == Outcome::wrong) throw;
    warnings.push_back(std::string(what) + ": " + failure.reason);
  } catch (const exchange::ViewError& error) {
    warnings.push_back(std::string(what) + ": " + error.what());
  }
}

}  // namespace

Judgement look_at_both_ends(const Pool& pool, const Library& producer, PyObject* result,
                            const Library& consumer) {
  if (result == Py_None) throw Failure{Outcome::wrong, "", "the consumer returned None"};
  PyObject* source = pool.arrays.front().get();
  const exchange::View& expected = pool.expected->view;
  Judgement judgement;
  exchange::View right;  // where what it should hold was found
  looked(judgement.warnings, "values not checked", [&] {
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
  looked(judgement.warnings, "addresses not compared", [&] {
    const Held from = read_place(source, producer);
    const Held to = read_place(result, consumer);
    judgement.crossed_device = from.view.device != to.view.device;
    judgement.evidence.address = exchange::same_address(from.view, to.view);
    judgement.evidence.write = exchange::write_through(from.view, to.view);
  });
  return judgement;
}

void conclude(Judgement& judgement) {
  Verdict verdict = dlbench::judge(judgement.evidence, judgement.crossed_device);
  judgement.outcome = verdict.outcome;
  for (std::string& warning : verdict.warnings) judgement.warnings.push_back(std::move(warning));
}

}  // namespace dlbench::worker
