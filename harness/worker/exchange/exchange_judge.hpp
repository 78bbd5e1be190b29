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

/// Judges one exchange: are the values right, did a library copy, and does the memory live long
/// enough?
class ExchangeJudge {
 public:
  ExchangeJudge(const Order& order, ExchangeCall& call);

  const Judgement& judgement() const { return judgement_; }

  /// Compares a result with the expected values. Returns the difference, or nothing. Throws Failure
  /// if they cannot be compared.
  std::optional<Failure> find_wrong_values(PyObject* result);

  /// Do two results of this exchange show the same types, values, memory and changes? The first was
  /// judged; `is_wrong`: its values are wrong.
  bool is_alike(PyObject* judged, PyObject* other, bool is_wrong) const;

  /// Judges calls of a function, one with each set of arrays. Throws Failure `wrong`.
  void judge_calls();

  /// Compares only the extras of a dispatched result, whose values and memory are new.
  void compare_extras(PyObject* result);

  /// Imports once more with deleters that count their calls. Throws Failure `wrong` if a deleter is
  /// called twice; `result` is then leaked.
  void check_lifetime(Ref& result);

  /// Imports an array, drops it immediately and overwrites its memory. Throws Failure `wrong` if
  /// the result changes.
  void check_outliving(const Order& order);

  /// Determines the outcome from the evidence so far. Adds the instruments' warnings.
  void conclude();
  /// Does the same for dispatch, which has no evidence.
  void add_warnings();

  /// Judges a new import under the page guard. Call it after the rounds, because protecting pages
  /// splits huge pages and may change the behavior of lazy libraries. Throws Failure.
  const Judgement& judge_again(const ObservedProtocol& observed, TimedBlocks& blocks,
                               const Announce& step);

  /// The requests of a function to an array, as a recording proxy observed them then. Empty if it
  /// takes no proxy, or may take the array itself in another way.
  const std::vector<std::string>& requests() const { return requests_; }

 private:
  Steps steps(PyObject* x);
  Judgement judge_plainly();
  Judgement judge_guarded(const exchange::View& source);
  void find_copier(const ObservedProtocol& observed, bool is_guarded);
  void find_argument_copier();
  std::vector<std::string> record_argument();
  void guard_argument(std::size_t position);
  bool is_read_by_consumer() const;
  void compare_written_values();
  void compare_exports();
  void check_growth(TimedBlocks& blocks);

  ExchangeCall& call_;
  Exchange exchange_;
  Ref make_case_;
  bool is_conversion_;
  bool is_guardable_;
  std::string argument_copier_;        // as Judgement::copied_by
  std::vector<std::string> requests_;  // of the function to an argument
  Judgement judgement_;
  Warnings lifetime_;  // warnings about lifetimes, kept apart because each judgment replaces its
                       // own warnings
};

}  // namespace dlbench::worker
