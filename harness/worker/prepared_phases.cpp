#include <algorithm>

#include "model/names.hpp"
#include "worker/garbage.hpp"
#include "worker/prepared.hpp"

namespace dlbench::worker {

const Phases& Prepared::prepare_phases(const Step& step) {
  step("phases");
  if (is_dispatch(seen_.used)) {
    throw Failure{Outcome::no_protocol, "",
                  "nothing is handed over: NumPy's function computes, by the array's own code"};
  }
  if (refuses_stand_in_) {
    throw Failure{Outcome::no_protocol, "",
                  "the consumer refuses a stand-in: what it asks of the array was not seen"};
  }
  if (seen_.used == "own") {
    throw Failure{Outcome::no_protocol, "",
                  "the consumer asks the array nothing: there are no phases to tell apart"};
  }
  if (torn_) {
    throw Failure{Outcome::unsupported, "",
                  "the consumer asks too many things of the array to be replayed"};
  }
  phases_ = std::make_unique<Phases>(WholeExchange{crossing_, asked(), given_, shown_mask_, tape_,
                                                   relayed(), ready_.get(), most_iterations_});
  return *phases_;
}

void Prepared::count_phases(std::uint64_t iterations, std::uint64_t prelude) {
  if (!phases_) throw Failure{Outcome::refused, "", "its phases are not prepared"};
  phases_->count(std::min(iterations, most_iterations_), prelude);
  collect_garbage();
}

PhaseReading Prepared::phases_round(std::uint64_t iterations, std::uint64_t prelude,
                                    std::uint64_t seed) {
  if (!phases_) throw Failure{Outcome::refused, "", "its phases are not prepared"};
  PhaseReading reading = phases_->round(iterations, prelude, seed);
  collect_garbage();
  return reading;
}

}  // namespace dlbench::worker
