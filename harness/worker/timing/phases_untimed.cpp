#include <algorithm>

#include "worker/base/spent.hpp"
#include "worker/proxy/borrowed_tensors.hpp"
#include "worker/proxy/capsule_deaths.hpp"
#include "worker/timing/phases.hpp"

// The untimed work of Phases: checks, and the walk through the phases.
namespace dlbench::worker {

// A consumer that uses another path with a proxy destroys other capsules.
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
    const PatchedType::Scope patched = source_.scope();
    replay(1);
    const CapsuleDeaths deaths;
    replay(1);
    replayed = deaths.counts();
  }
  drain();
  if (direct == replayed) return;
  throw Failure{Outcome::no_protocol, "",
                "the consumer behaves differently with a proxy: it destroys other capsules"};
}

// Warns of deleters that run in a phase other than `release`.
void Phases::find_deleters() {
  constexpr int kExchanges = 8;
  const Spent::Span counted(Spent::On::library);
  BorrowedTensors borrowed_tensors;
  Replay& replay = source_.replay();
  {
    const PatchedType::Scope patched = source_.scope();
    for (int i = 0; i < kExchanges; ++i) {
      PyObject* array = whole_.arrays[advance()].get();
      for (std::size_t request = 0; request < replay.size(); ++request) {
        if (!replay.play(request, array)) fail();
        replay.count_in(request, borrowed_tensors);
      }
      borrowed_tensors.now(When::import);
      PyObject* result = source_.import(array);
      borrowed_tensors.now(When::release);
      if (result == nullptr) fail();
      Py_DECREF(result);
      borrowed_tensors.now(When::later);
    }
  }
  const auto ended = [&borrowed_tensors](When when) {
    return std::ranges::count_if(borrowed_tensors.all(),
                                 [when](const auto& borrowed) { return borrowed->ended == when; });
  };
  const auto exported = std::ranges::count_if(
      borrowed_tensors.all(), [](const auto& borrowed) { return borrowed->has_deleter; });
  const auto early = ended(When::import), late = exported - early - ended(When::release);
  const auto warn_of = [&](codes::WarningCode code, auto some, const char* what) {
    if (some == 0) return;
    const std::string count = std::to_string(some), all = std::to_string(exported);
    warn(warnings_, code, count + " of " + all + " deleters " + what,
         {{"count", count}, {"deleters", all}});
  };
  warn_of("deleter-in-import", early, "ran in import, before the call returned");
  warn_of("deleter-later", late, "had not run when the result was dropped");
}

void Phases::walk(const Around& around) {
  const PatchedType::Scope patched = source_.scope();
  Replay& replay = source_.replay();
  PyObject* array = whole_.arrays[advance()].get();
  for (std::size_t i = 0; i < replay.size(); ++i) {
    around(trace::category_of(recording()[i].phase()), [&] {
      if (!replay.play(i, array)) fail();
    });
  }
  Ref result;
  around(trace::Category::import_, [&] {
    result = Ref::steal(source_.import(array));
    if (!result || !replay.is_done()) fail();
  });
  if (whole_.ready != nullptr) {
    around(trace::Category::ready, [&] { wait_for(result.get()); });
  }
  around(trace::Category::release, [&] { result = Ref(); });
}

}  // namespace dlbench::worker
