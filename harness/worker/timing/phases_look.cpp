#include <algorithm>

#include "worker/base/spent.hpp"
#include "worker/proxy/capsule_deaths.hpp"
#include "worker/proxy/loans.hpp"
#include "worker/timing/phases.hpp"

// What is looked at, untimed, before the phases are told apart.
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
  Loans loans;
  Replay& replay = stand_in_.replay();
  {
    const PatchedType::Scope patched = stand_in_.scope();
    for (int i = 0; i < kExchanges; ++i) {
      PyObject* array = whole_.arrays[advance()].get();
      for (std::size_t request = 0; request < replay.size(); ++request) {
        if (!replay.play(request, array)) fail();
        replay.lend(request, loans);
      }
      loans.now(When::import);
      PyObject* result = stand_in_.import(array);
      loans.now(When::release);
      if (result == nullptr) fail();
      Py_DECREF(result);
      loans.now(When::later);
    }
  }
  const auto ended = [&loans](When when) {
    return std::ranges::count_if(loans.all(),
                                 [when](const auto& loan) { return loan->ended == when; });
  };
  const auto lent =
      std::ranges::count_if(loans.all(), [](const auto& loan) { return loan->has_deleter; });
  const auto early = ended(When::import), late = lent - early - ended(When::release);
  const auto warn_of = [&](codes::WarningCode code, auto some, const char* what) {
    if (some == 0) return;
    const std::string count = std::to_string(some), all = std::to_string(lent);
    warn(warnings_, code, count + " of " + all + " deleters " + what,
         {{"count", count}, {"deleters", all}});
  };
  warn_of("deleter-in-import", early, "ran in import, before the call returned");
  warn_of("deleter-later", late, "had not run when the result was dropped");
}

}  // namespace dlbench::worker
