#include "worker/timing/phases.hpp"

namespace dlbench::worker {

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
