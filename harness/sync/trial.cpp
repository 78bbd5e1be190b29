#include "sync/trial.hpp"

#include <ctime>
#include <functional>
#include <vector>

#include "stats/stats.hpp"

namespace dlbench::sync {
namespace {

constexpr Ns second = 1'000'000'000;
constexpr Ns nap_ns = 20'000;
constexpr Ns patience = 50'000'000;

void nap() {
  const timespec wait{0, nap_ns};
  nanosleep(&wait, nullptr);
}

}  // namespace

Ns now() {
  timespec read{};
  clock_gettime(CLOCK_MONOTONIC, &read);
  return read.tv_sec * second + read.tv_nsec;
}

Trial run_trial(const Queue& queue, Ns delay) {
  Trial trial;
  trial.delay = delay;
  trial.ended = -1;
  settled(queue, [&] {
    const Ns begin = now();
    queue.arm(delay, 0);
    Content content = queue.peek();
    for (const Call call : {kGive, kTake, kRead}) {
      if (call == kRead) {
        trial.control = content == Content::Old && queue.control ? queue.control() : content;
        content = queue.peek();
      }
      trial.before[call] = content;
      const Ns from = now();
      if (call == kGive) queue.give();
      if (call == kTake) queue.take();
      if (call == kRead) trial.saw = queue.read();
      const Ns until = now();
      content = queue.peek();
      trial.after[call] = content;
      trial.began[call] = from - begin;
      trial.took[call] = until - from;
      if (content != Content::Old && trial.ended < 0) trial.ended = until - begin;
    }
    while (trial.ended < 0) {
      if (queue.peek() != Content::Old || now() - begin > 50 * delay + second) {
        trial.ended = now() - begin;
      } else {
        nap();
      }
    }
  });
  if (queue.delayed) trial.delayed = queue.delayed();
  if (queue.gap) trial.gap = queue.gap();
  return trial;
}

double idle_ns(const Queue& queue, int times) {
  std::vector<double> took;
  for (int i = 0; i <= times; ++i) {
    settled(queue, [&] {
      queue.arm(0, 0);
      for (const Ns until = now() + patience; queue.peek() == Content::Old && now() < until;) nap();
      const Ns begin = now();
      queue.give();
      queue.take();
      if (i > 0) took.push_back(static_cast<double>(now() - begin));
      queue.read();
    });
  }
  return stats::median(took);
}

}  // namespace dlbench::sync
