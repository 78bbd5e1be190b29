#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "measure/round.hpp"
#include "model/entry.hpp"
#include "worker/arrays.hpp"
#include "worker/block.hpp"
#include "worker/consumer_call.hpp"
#include "worker/crossing.hpp"
#include "worker/device_clock.hpp"
#include "worker/exported.hpp"
#include "worker/frames.hpp"
#include "worker/guarded.hpp"
#include "worker/judging.hpp"
#include "worker/order.hpp"
#include "worker/phases.hpp"
#include "worker/read.hpp"
#include "worker/relay.hpp"

namespace dlbench::worker {

/// What looking at who waits found.
struct WhoWaits {
  std::vector<Handover> sync;  ///< empty where the producer has no queue
  std::string late_free;       ///< of kLateFree; empty where nobody looked
  std::string race;            ///< why the exchange is one; empty: it is none
};

/// Tells the fleet what is about to be tried, so that it can say where a worker died.
using Step = std::function<void(const char*)>;

/// One exchange in this worker: its arrays, its compiled call, and what was seen of it.
class Prepared {
 public:
  /// Makes the arrays, crosses once directly looks at lifetimes, crosses once tapped, judges,
  /// calibrates. Throws Failure.
  Prepared(const Order& order, const Library& producer, const Library& consumer, Arrays& arrays,
           const Step& step);

  /// One timed block after `prelude` untimed calls. Throws Failure where a call raises.
  measure::Reading round(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude);

  /// As many calls under callgrind's eyes, after `prelude` untimed ones. With `names`, which then
  /// gets the Python functions that were entered, each of those runs as a `dlbench_frame`. Throws
  /// Failure.
  void count(const std::string& clock, std::uint64_t iterations, std::uint64_t prelude,
             std::vector<FrameNode>* names);

  /// Gets ready to tell the phases apart. Throws Failure where they cannot be.
  const Phases& prepare_phases(const Step& step);

  /// Counts their parts under callgrind. Throws Failure, also where they were not prepared.
  void count_phases(std::uint64_t iterations, std::uint64_t prelude);

  /// One round of them. Throws Failure, also where they were not prepared.
  PhaseReading phases_round(std::uint64_t iterations, std::uint64_t prelude, std::uint64_t seed);

  /// One exchange inside `around`, its wait inside that; then, where it can be, one taken apart.
  /// Never timed. Returns why it could not be taken apart, or nothing. Throws Failure.
  std::string walk(const Around& around);

  /// Looks again at a fresh crossing, this time with the source's pages taken away: lazy libraries
  /// change their mind. After the rounds, since taking pages away splits large ones. Throws
  /// Failure.
  Judgement judge_again(const Step& step);

  /// Looks who waits while the producer is busy, for each stream argument. Nothing where the
  /// producer's adapter has no queue. Throws Failure.
  WhoWaits who_waits(const Order& order, const Step& step);

  /// The exchange's name, as its ranges are called.
  const std::string& label() const { return label_; }
  std::uint64_t bytes() const { return bytes_; }

  const Judgement& judgement() const { return judgement_; }
  const Seen& seen() const { return seen_; }
  const std::map<std::string, double>& first_ns() const { return first_ns_; }
  const std::map<std::string, std::uint64_t>& iterations() const { return iterations_; }
  /// Clocks that were ordered and have no number, with the reason.
  const std::map<std::string, std::string>& without() const { return without_; }
  /// The step of the timer behind the clock `device`; nothing where there is no such clock.
  std::optional<double> device_step_ns() const {
    if (!device_clock_) return std::nullopt;
    return device_clock_->step_ns();
  }
  /// A block's most calls: an asynchronous consumer must not run ahead of its work.
  std::uint64_t most_iterations() const { return most_iterations_; }
  /// So many fill a round, on whatever clock.
  std::uint64_t calibrated() const { return calibrated_; }
  bool relayed() const { return seen_.via == "relay"; }
  /// Does an object of dlbench's stand between?
  bool between() const { return relayed() || seen_.via == "exports"; }

 private:
  /// Has the consumer no call for this protocol, so that its conversion is shown nothing else?
  bool is_converted(const std::string& requested) const {
    return call_.name == "convert" && requested != "convert";
  }
  PyObject* first_array() const { return pool_->arrays.front().get(); }
  /// What stands for the arrays before whoever asks them for a protocol: they, or what EXPORTS make
  /// of them.
  const std::vector<Ref>& asked() const { return exported_.empty() ? pool_->arrays : exported_; }
  PyObject* first_asked() const { return asked().front().get(); }
  Ref stand_for(const Ref& array, const std::string& requested) const;
  const char* way() const { return exported_.empty() ? "direct" : "exports"; }
  void show(std::vector<Ref> objects);
  void cross_and_look(const std::string& requested, const Step& step);
  std::optional<Failure> judge_values(PyObject* result);
  Ref cross_first(const Step& step);
  Ref cross_and_wait(PyObject* x, std::vector<std::string>& words,
                     const std::function<void()>& called);
  Ref cross_once(PyObject* x);
  void wait_for(PyObject* result);
  void check_lifetime(Ref& result);
  void look_for_growth();
  void add_warnings();
  void dispatch(const Order& order, const Step& step);
  void look_after_dropping(const Order& order);
  void require_offer(const std::string& requested);
  void find_protocol(const std::string& requested, bool same_object, bool is_wrong);
  bool refused_a_proxy(const Failure& failure) const;
  Failure without_proxy(const Failure& refusal, const Exchange& exchange);
  void note(const Tap& tap, const char* via);
  Tape tape_now();
  void go_through_relay(const std::string& requested, const std::string& direct);
  std::optional<Failure> cross_tapped(Shown shown, Tap& tap, std::vector<std::string>& words);
  void calibrate(const Order& order);
  void prepare_device_clock(const Order& order);
  measure::Reading device_round(measure::Body body, std::uint64_t iterations);
  Block block(const std::string& clock);
  void drain();
  Judgement judge_plainly();
  Judgement judge_guarded(const exchange::View& source);
  void find_copier(bool guarded);
  Steps steps(PyObject* x);

  std::string label_;
  std::uint64_t bytes_;
  const Library& producer_;
  const Library& consumer_;
  ConsumerCall call_;
  Crossing crossing_;
  Ref ready_;  // the consumer's wait, or empty
  std::shared_ptr<const Pool> pool_;
  Export export_;                 // of what no attribute of the arrays offers, or empty
  std::vector<Ref> exported_;     // then what shows it
  std::vector<Ref> shown_;        // what the consumer is given: the arrays, or relays before them
  std::vector<PyObject*> given_;  // borrowed from shown_, for the timed loop
  std::size_t next_ = 0;
  std::uint64_t most_iterations_ = 0;
  Tape tape_;                      // what the consumer asked, on the way that is timed
  bool torn_ = false;              // it asked more than that
  bool given_proxy_ = false;       // the consumer was given a relay for this cell
  bool producer_raised_ = false;   // and the producer itself failed its last request
  bool refuses_stand_in_ = false;  // what it asks the array itself was then not seen
  std::unique_ptr<Phases> phases_;
  Judgement judgement_;
  std::vector<std::string> lifetime_;  // what to warn of beside the judgement
  std::vector<std::string> noted_;  // Python warnings of the first calls on the way that is timed
  Seen seen_;
  Shown shown_mask_ = 0;  // what a relay must show to be taken as the array is
  std::map<std::string, double> first_ns_;
  std::uint64_t calibrated_ = 0;
  std::map<std::string, std::uint64_t> iterations_;
  std::map<std::string, std::string> without_;  // clocks that cannot be, and why
  std::unique_ptr<DeviceClock> device_clock_;
  bool guardable_ = true;
};

}  // namespace dlbench::worker
