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

// Does the producer's next array reuse memory that nothing reads?
bool is_reused_when_idle(const Queue& queue) {
  bool is_reused = false;
  settled(queue, [&] {
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
  bool comes_back = false;
  while (found.word == "inconclusive" && found.trials < options.most) {
    for (const Ns delay : {options.delay, 2 * options.delay}) {
      const Content forced = read_slowly(queue, delay, [&] { queue.overwrite(); });
      controlled += forced == Content::Other;
      comes_back = comes_back || is_reused_when_idle(queue);
      const Content saw = read_slowly(queue, delay, [&] {
        queue.drop();
        queue.reuse();
      });
      ++found.trials;
      overwritten += saw == Content::Other;
      kept += saw == Content::New;
    }
    if (overwritten > 0 && found.trials >= options.need) {
      found.word = "late";
    } else if (overwritten == 0 && kept >= 2 * options.need && controlled >= options.need &&
               comes_back) {
      found.word = "safe";
    }
  }
  return found;
}

}  // namespace dlbench::sync
