#include "worker/lifetime.hpp"
#include "worker/prepared.hpp"

namespace dlbench::worker {

// Before anything else that was imported is let go of: what is deleted twice is better never
// deleted.
void Prepared::check_lifetime(Ref& result) {
  if (result.get() == first_array()) return;
  Lifetime found = look_at_lifetime(*pool_, producer_, consumer_, [this](PyObject* x) {
    Ref imported = cross_once(x);
    wait_for(imported.get());
    return imported;
  });
  lifetime_ = std::move(found.warnings);
  if (!found.deleted_twice) return;
  result.release();
  throw Failure{Outcome::wrong, "", "deleter: called twice for one export"};
}

void Prepared::add_lifetime() {
  judgement_.warnings.insert(judgement_.warnings.end(), lifetime_.begin(), lifetime_.end());
}

}  // namespace dlbench::worker
