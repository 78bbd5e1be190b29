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

/// Decides what became of one exchange: whether its values arrived, whether bytes were copied and
/// by which library, and whether memory lives as long as it must.
class ExchangeJudge {
 public:
  ExchangeJudge(const Order& order, ExchangeCall& call);

  const Judgement& judgement() const { return judgement_; }

  /// Compares a result with what was made. Returns why its values are wrong, or nothing. Throws
  /// Failure where they cannot be compared.
  std::optional<Failure> find_wrong_values(PyObject* result);

  /// What a computed result of dispatch kept of the array. Its values and memory are its own.
  void compare_extras(PyObject* result);

  /// Imports once more with deleters that count. Throws Failure `wrong` where one is called twice;
  /// then `result` is never released.
  void check_lifetime(Ref& result);

  /// Imports an array that is dropped at once, and writes over its memory. Throws Failure `wrong`
  /// where the result shows it.
  void check_outliving(const Order& order);

  /// Concludes by the evidence so far. What the instruments warn of is added.
  void conclude();
  /// The same for dispatch, where there is no evidence.
  void add_warnings();

  /// Looks again at a fresh import, this time with the source's pages taken away: lazy libraries
  /// change their mind. After the rounds, since taking pages away splits large ones. Throws
  /// Failure.
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
  Warnings lifetime_;  // warnings; each judging is a new judgement
};

}  // namespace dlbench::worker
