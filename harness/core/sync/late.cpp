#include "sync/late.hpp"

#include "sync/trial.hpp"

namespace dlbench::sync {
namespace {

template <typename Interfere>
Content read_slowly(const Queue& queue, Ns delay, Interfere interfere) {
  Content content = Content::Other;
  run_and_settle(queue, [&] {
    queue.slow_read(delay);
    interfere();
    content = queue.read();
  });
  return content;
}

// Does the producer's next array reuse memory that is not being read?
bool is_reused_when_idle(const Queue& queue) {
  bool is_reused = false;
  run_and_settle(queue, [&] {
    queue.slow_read(0);
    queue.read();
    queue.drop();
    is_reused = queue.reuse();
  });
  return is_reused;
}

}  // namespace

LateFree late_free(const Queue& queue, const Options& options) {
  LateFree found;
  int controlled = 0, overwritten = 0, kept = 0;
  bool is_reused = false;
  while (found.word == "inconclusive" && found.trials < options.most) {
    for (const Ns delay : {options.delay, 2 * options.delay}) {
      const Content forced = read_slowly(queue, delay, [&] { queue.overwrite(); });
      controlled += forced == Content::Other;
      is_reused = is_reused || is_reused_when_idle(queue);
      const Content content = read_slowly(queue, delay, [&] {
        queue.drop();
        queue.reuse();
      });
      ++found.trials;
      overwritten += content == Content::Other;
      kept += content == Content::New;
    }
    if (overwritten > 0 && found.trials >= options.need) {
      found.word = "late";
    } else if (overwritten == 0 && kept >= 2 * options.need && controlled >= options.need &&
               is_reused) {
      found.word = "safe";
    }
  }
  return found;
}

}  // namespace dlbench::sync
