#include "worker/garbage.hpp"
#include "worker/prepared.hpp"

namespace dlbench::worker {

std::string Prepared::walk(const Around& around) {
  around(trace::Category::exchange, [&] {
    PyObject* x = given_[next_];
    next_ = next_ + 1 == given_.size() ? 0 : next_ + 1;
    const Ref result = checked(crossing_(x));
    if (ready_) around(trace::Category::ready, [&] { wait_for(result.get()); });
  });
  std::string why_whole;
  try {
    if (!phases_) prepare_phases([](const char*) {});
    around(trace::Category::phases, [&] { phases_->walk(around); });
  } catch (const Failure& failure) {
    why_whole = failure.reason;
  }
  collect_garbage();
  return why_whole;
}

}  // namespace dlbench::worker
