#include "sync/situations.hpp"

#include <atomic>
#include <cmath>
#include <random>
#include <stop_token>
#include <thread>

#include "sync/classifier.hpp"
#include "sync/late.hpp"

namespace dlbench::sync {
namespace {

constexpr double kLeastNs = 5e6, kMostNs = 20e6;

void spin(const std::stop_token& stop) {
  volatile std::uint64_t count = 0;
  while (!stop.stop_requested()) count = count + 1;
}

std::vector<std::jthread> neighbors(int count) {
  std::vector<std::jthread> made;
  for (int i = 0; i < count; ++i) made.emplace_back(spin);
  return made;
}

void classify_planted(Planted& planted, Situation& situation) {
  planted.set(situation.kind);
  Options options;
  options.delay = situation.delay;
  if (is_about_freeing(situation.kind)) {
    situation.found = late_free(planted.queue(), options).word;
    return;
  }
  const Verdict verdict = classify(planted.queue(), options);
  situation.found = to_string(verdict.waits);
  if (verdict.export_blocked && verdict.import_blocked) {
    situation.blocked = *verdict.export_blocked + *verdict.import_blocked;
  }
}

}  // namespace

std::optional<double> Situation::share_error() const {
  // A wait for an unrelated stream lasts as long as the unrelated stream's work, so its expected
  // share is unknown.
  if (!blocked || kind > Kind::Host) return std::nullopt;
  return std::abs(*blocked - (kind == Kind::Host ? 1.0 : 0.0));
}

std::vector<Situation> try_planted(std::size_t count, std::uint64_t seed, int jobs) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> logarithm(std::log(kLeastNs), std::log(kMostNs));
  std::vector<Situation> situations(count);
  for (std::size_t i = 0; i < count; ++i) {
    situations[i].kind = static_cast<Kind>(i % kKinds.size());
    situations[i].neighbors = i < count / 2 ? 1 : 2;
    situations[i].delay = static_cast<Ns>(std::exp(logarithm(random)));
  }
  for (const int beside : {1, 2}) {
    const std::vector<std::jthread> busy = neighbors(beside);
    std::atomic<std::size_t> next = 0;
    std::vector<std::jthread> workers;
    for (int job = 0; job < jobs; ++job) {
      workers.emplace_back([&] {
        Planted planted(Kind::Nothing);
        for (std::size_t i = next++; i < count; i = next++) {
          if (situations[i].neighbors == beside) classify_planted(planted, situations[i]);
        }
      });
    }
  }
  return situations;
}

}  // namespace dlbench::sync
