#include "model/names.hpp"
#include "worker/copier.hpp"
#include "worker/counted.hpp"
#include "worker/prepared.hpp"

// The judging after the rounds: a crossing under guard, then who copied.
namespace dlbench::worker {

Steps Prepared::steps(PyObject* x) {
  return {[this, x] { return cross_once(x); }, [this](PyObject* result) { wait_for(result); },
          [this](PyObject* result) { return read_place(result, consumer_); },
          [this](PyObject* result) { return read_values(result, consumer_); }};
}

Judgement Prepared::judge_again(const Step& step) {
  if (is_dispatch(seen_.used)) return judgement_;
  step("growth");
  look_for_growth();
  step("guard");
  // Pages that a driver has pinned, or moves itself, are not ours to take away.
  const std::optional<Held> source =
      guardable_ ? place_to_guard(first_array(), producer_) : std::optional<Held>{};
  std::string why_not;
  if (source && under_valgrind()) {
    why_not = "under valgrind an instruction that faults is not resumed as it was: values are lost";
  } else if (source) {
    try {
      judgement_ = judge_guarded(source->view);
    } catch (const exchange::GuardError& error) {
      why_not = error.what();
    } catch (const Failure& failure) {
      why_not =
          "under it the exchange fails, and not without, as where a system call reads the "
          "memory: ";
      why_not += failure.reason;
    }
  }
  if (!source || !why_not.empty()) {
    step("values");
    judgement_ = judge_plainly();
    if (!why_not.empty()) judgement_.warnings.push_back("no guard: " + why_not);
    step("guard");
  }
  conclude(judgement_);
  add_warnings();
  find_copier(source && why_not.empty());
  step("judged");
  return judgement_;
}

Judgement Prepared::judge_plainly() {
  const Ref result = cross_once(given_[0]);
  wait_for(result.get());
  return look_at_both_ends(*pool_, producer_, result.get(), consumer_);
}

Judgement Prepared::judge_guarded(const exchange::View& source) {
  Judgement judgement;
  Steps all = steps(given_[0]);
  all.judge = [&](PyObject* result) {
    judgement = look_at_both_ends(*pool_, producer_, result, consumer_);
  };
  Guarded guarded = cross_guarded(source, all);
  judgement.evidence.guard = guarded.word;
  judgement.late_read = guarded.seen.late > 0;
  judgement.guard = std::move(guarded.seen);
  for (std::string& warning : guarded.warnings) judgement.warnings.push_back(std::move(warning));
  return judgement;
}

void Prepared::find_copier(bool guarded) {
  const auto warn = [this](const std::vector<std::string>& warnings) {
    judgement_.warnings.insert(judgement_.warnings.end(), warnings.begin(), warnings.end());
  };
  warn(false_flags(seen_, judgement_.outcome));
  if (judgement_.outcome != Outcome::copy && judgement_.outcome != Outcome::device_copy) return;
  try {
    const Held source = read_place(first_array(), producer_);
    Tap tap;
    const TappedRelay relay(first_asked(), shown_mask_, tap);
    const Copier copier = copier_of(steps(relay.get()), tap, source.view, guarded);
    judgement_.copied_by = copier.who;
    warn(copier.warnings);
  } catch (const Failure&) {
    // It asked nothing when it was watched: nobody but it was there to copy.
    if (seen_.used == "own" && !refuses_stand_in_) judgement_.copied_by = "consumer";
  } catch (const exchange::ViewError&) {
    // Described as no array can be: `look_at_both_ends` said so already.
  }
}

}  // namespace dlbench::worker
