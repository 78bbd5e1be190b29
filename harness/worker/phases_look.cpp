// What is looked at, untimed, before the phases are told apart.
#include "worker/lifetimes.hpp"
#include "worker/phases.hpp"
#include "worker/spent.hpp"

namespace dlbench::worker {

// An exact type check, or a path that no relay can show, leaves other capsules behind.
void Phases::check_path() {
  const Spent::Span counted(Spent::On::library);
  whole(1);
  CapsuleDeaths::Counts direct{}, replayed{};
  {
    const CapsuleDeaths deaths;
    whole(1);
    direct = deaths.counts();
  }
  {
    const PatchedType::Scope patched = stand_in_.scope();
    replay(1);
    const CapsuleDeaths deaths;
    replay(1);
    replayed = deaths.counts();
  }
  drain();
  if (direct == replayed) return;
  throw Failure{Outcome::no_protocol, "",
                "the consumer takes another path when it is shown a relay: it leaves other "
                "capsules behind"};
}

// Where the deleter belongs to another phase than to release, that has to be said.
void Phases::find_deleters() {
  constexpr int kExchanges = 8;
  const Spent::Span counted(Spent::On::library);
  Lifetimes::begin();
  Replay& replay = stand_in_.replay();
  {
    const PatchedType::Scope patched = stand_in_.scope();
    for (int i = 0; i < kExchanges; ++i) {
      PyObject* array = whole_.arrays[advance()].get();
      for (std::size_t request = 0; request < replay.size(); ++request) {
        if (!replay.play(request, array)) fail();
        Lifetimes::watch(replay.capsule(request));
        Lifetimes::watch(replay.managed(request));
      }
      Lifetimes::now(Lifetimes::When::import);
      PyObject* result = stand_in_.import(array);
      Lifetimes::now(Lifetimes::When::release);
      if (result == nullptr) fail();
      Py_DECREF(result);
      Lifetimes::now(Lifetimes::When::later);
    }
  }
  const Lifetimes::Counts counts = Lifetimes::counts();
  if (counts.watched == 0) return;
  const auto told = [&](int some) {
    return std::to_string(some) + " of " + std::to_string(counts.watched) + " deleters ";
  };
  if (const int early = counts.in(Lifetimes::When::import); early > 0) {
    warnings_.push_back(told(early) + "ran in import, before the call returned");
  }
  const int in_time = counts.in(Lifetimes::When::import) + counts.in(Lifetimes::When::release);
  if (in_time < counts.watched) {
    warnings_.push_back(told(counts.watched - in_time) + "had not run when the result was dropped");
  }
}

}  // namespace dlbench::worker
