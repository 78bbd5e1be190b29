#include "sync/trial.hpp"

#include <ctime>
#include <functional>
#include <vector>

#include "stats/stats.hpp"

namespace dlbench::sync {
namespace {

constexpr Ns second = 1'000'000'000;
constexpr Ns nap_ns = 20'000;
constexpr Ns patience = 2 * second;

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
  if (queue.is_independent) {
    run_and_settle(queue, [&] { trial.is_independent = queue.is_independent(delay / 2); });
    if (!trial.is_independent) return trial;
  }
  run_and_settle(queue, [&] {
    const Ns begin = now();
    queue.arm(delay, 0);
    Content content = queue.peek();
    for (const Call call : {kExport, kImport, kRead}) {
      if (call == kRead) content = queue.peek();
      trial.before[call] = content;
      const Ns from = now();
      if (call == kExport) queue.export_array();
      if (call == kImport) queue.import_array();
      if (call == kRead) trial.content = queue.read();
      const Ns until = now();
      content = queue.peek();
      trial.after[call] = content;
      trial.began[call] = from - begin;
      trial.took[call] = until - from;
      if (content != Content::Old && trial.ended < 0) trial.ended = until - begin;
    }
    while (trial.ended < 0) {
      const bool has_to_be = trial.content == Content::New || now() - begin > 50 * delay + second;
      content = queue.peek();
      trial.misplaced = has_to_be && content == Content::Old;
      if (trial.misplaced || content != Content::Old) {
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

Idle run_idle(const Queue& queue, int times) {
  Idle idle;
  std::vector<double> took;
  for (int i = 0; i <= times && idle.is_read; ++i) {
    run_and_settle(queue, [&] {
      queue.arm(0, 0);
      for (const Ns until = now() + patience; queue.peek() == Content::Old && now() < until;) nap();
      idle.is_read = idle.is_read && queue.peek() == Content::New;
      const Ns begin = now();
      queue.export_array();
      queue.import_array();
      if (i > 0) took.push_back(static_cast<double>(now() - begin));
      idle.is_read = idle.is_read && queue.read() == Content::New;
    });
  }
  if (!took.empty()) idle.transfer_ns = stats::median(took);
  return idle;
}

}  // namespace dlbench::sync
