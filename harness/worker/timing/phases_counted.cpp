#include "model/names.hpp"
#include "worker/timing/counted.hpp"
#include "worker/timing/parts.hpp"
#include "worker/timing/phases.hpp"

// The replay under callgrind: the steps of a timed round without stamps, each below its own
// function in the profile.
namespace dlbench::worker {

struct Phases::Counting {
  Phases& phases;
  PyObject* array = nullptr;
  PyObject* result = nullptr;

  static Counting& of(void* self) { return *static_cast<Counting*>(self); }

  static int play(void* self, std::size_t request) {
    Counting& it = of(self);
    return it.phases.source_.replay().play(request, it.array) ? 0 : -1;
  }
  static int import(void* self, std::size_t) {
    Counting& it = of(self);
    it.result = it.phases.source_.import(it.array);
    return it.result != nullptr ? 0 : -1;
  }
  static int release(void* self, std::size_t) {
    Py_DECREF(of(self).result);
    return 0;
  }
  static int send_request(void* self, std::size_t request) {
    return of(self).phases.source_.send_request(request);
  }
  static int nothing(void*, std::size_t) { return 0; }

  bool exchange() {
    Replay& replay = phases.source_.replay();
    array = phases.whole_.arrays[phases.advance()].get();
    for (std::size_t request = 0; request < replay.size(); ++request) {
      const bool is_query = replay.recording()[request].phase() == Phase::query;
      if (in_part(is_query ? Part::query : Part::export_, play, this, request) != 0) return false;
    }
    if (in_part(Part::import, import, this) != 0 || !replay.is_done()) {
      Py_CLEAR(result);
      return false;
    }
    in_part(Part::release, release, this);
    in_part(Part::nothing, nothing, this);
    if (!phases.source_.has_floor()) return true;
    for (std::size_t request = 0; request < replay.size(); ++request) {
      replay.arm(request);
      if (in_part(Part::proxy, send_request, this, request) != 0) PyErr_Clear();
    }
    return true;
  }

  static std::uint64_t run(void* self, std::uint64_t times) {
    std::uint64_t done = 0;
    while (done < times && of(self).exchange()) ++done;
    return done;
  }
};

void Phases::count(std::uint64_t iterations, std::uint64_t prelude) {
  Counting counting{*this};
  {
    const PatchedType::Scope patched = source_.scope();
    next_ = 0;
    if (Counting::run(&counting, prelude) != prelude) fail();
    next_ = 0;
    if (!counted({&Counting::run, &counting}, iterations)) fail();
  }
  drain();
}

}  // namespace dlbench::worker
