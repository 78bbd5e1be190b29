#include "sync/late.hpp"

#include "sync/trial.hpp"

namespace dlbench::sync {
namespace {

template <typename Meddle>
Content read_slowly(const Queue& queue, Ns delay, Meddle meddle) {
  Content saw = Content::Other;
  settled(queue, [&] {
    queue.slow_read(delay);
    meddle();
    saw = queue.read();
  });
  return saw;
}

}  // namespace

LateFree late_free(const Queue& queue, const Options& options) {
  LateFree found;
  int controlled = 0, overwritten = 0, kept = 0;
  while (found.word == "inconclusive" && found.trials < options.most) {
    for (const Ns delay : {options.delay, 2 * options.delay}) {
      const Content forced = read_slowly(queue, delay, [&] { queue.overwrite(); });
      controlled += forced == Content::Other;
      const Content saw = read_slowly(queue, delay, [&] {
        queue.drop();
        found.reused += queue.reuse();
      });
      ++found.trials;
      overwritten += saw == Content::Other;
      kept += saw == Content::New;
    }
    if (overwritten > 0 && found.trials >= options.need) {
      found.word = "late";
    } else if (overwritten == 0 && kept >= 2 * options.need && controlled >= options.need) {
      found.word = "safe";
    }
  }
  return found;
}

}  // namespace dlbench::sync
