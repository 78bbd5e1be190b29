#pragma once

#include <optional>
#include <string>
#include <vector>

#include "worker/exchange/exchange_call.hpp"
#include "worker/exchange/protocol_search.hpp"
#include "worker/exchange/timed_blocks.hpp"
#include "worker/judge/guarded.hpp"
#include "worker/judge/judging.hpp"

namespace dlbench::worker {

/// Judges one exchange: whether its values arrived, whether bytes were copied and by which library,
/// and whether memory lives long enough.
class ExchangeJudge {
 public:
  ExchangeJudge(const Order& order, ExchangeCall& call);

  const Judgement& judgement() const { return judgement_; }

  /// Compares a result with the expected values. Returns the difference, or nothing. Throws Failure
  /// where they cannot be compared.
  std::optional<Failure> find_wrong_values(PyObject* result);

  /// Which extras of the array a dispatched result kept. Its values and memory are its own.
  void compare_extras(PyObject* result);

  /// Imports once more with deleters that count. Throws Failure `wrong` where one is called twice;
  /// `result` is then never released.
  void check_lifetime(Ref& result);

  /// Imports an array that is dropped immediately, and overwrites its memory. Throws Failure
  /// `wrong` where the result changes.
  void check_outliving(const Order& order);

  /// Determines the outcome from the evidence so far. Adds the instruments' warnings.
  void conclude();
  /// The same for dispatch, which has no evidence.
  void add_warnings();

  /// Judges a new import again, under the page guard: lazy libraries may behave differently. Call
  /// it after the rounds, since protecting pages splits large ones. Throws Failure.
  const Judgement& judge_again(const ObservedProtocol& observed, TimedBlocks& blocks,
                               const Step& step);

 private:
  Steps steps(PyObject* x);
  Judgement judge_plainly();
  Judgement judge_guarded(const exchange::View& source);
  void find_copier(const ObservedProtocol& observed, bool is_guarded);
  void look_for_growth(TimedBlocks& blocks);

  ExchangeCall& call_;
  bool is_guardable_;
  Judgement judgement_;
  Warnings lifetime_;  // warnings of lifetimes; each judgment replaces them
};

}  // namespace dlbench::worker
