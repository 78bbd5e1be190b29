#include "worker/judge/copier.hpp"

#include <optional>

#include "model/contains.hpp"

namespace dlbench::worker {
namespace {

// The guard only needs to find the code that reads, so few pages are enough.
constexpr std::size_t kPagesToFindCopier = 256;

struct ExchangeOnce {
  std::uintptr_t result = 0;  ///< address; 0 if unknown
  std::optional<Guarded> guarded;
};

std::uintptr_t address_of(PyObject* result, const Steps& steps) try {
  return steps.place(result).view.address;
} catch (const Failure&) {
  return 0;
}

ExchangeOnce exchange_once(const Steps& steps, const exchange::View& source, bool guarded) {
  ExchangeOnce exchanged;
  if (guarded) {
    try {
      Steps noting = steps;
      noting.judge = [&](PyObject* result) { exchanged.result = address_of(result, steps); };
      exchanged.guarded = exchange_guarded(source, noting, kPagesToFindCopier);
      return exchanged;
    } catch (const Failure&) {
    } catch (const exchange::GuardError&) {
    }
  }
  const Ref result = steps.call();
  steps.wait(result.get());
  exchanged.result = address_of(result.get(), steps);
  return exchanged;
}

}  // namespace

Copier copier_of(const Steps& steps, const Recorder& recorder, const exchange::View& source,
                 bool guarded) {
  const ExchangeOnce exchanged = exchange_once(steps, source, guarded);
  const std::uintptr_t exported = recorder.address();
  bool producer = exported != 0 && exported != source.address;
  bool consumer = exported != 0 && exchanged.result != 0 && exchanged.result != exported;
  if (exchanged.guarded) {
    const GuardCounts& observed = exchanged.guarded->observed;
    const std::uint64_t in_export = exchanged.guarded->in_export;
    // A copy reads all pages, but the guard does not see a page again that was read before. More
    // than half is enough.
    producer = producer || in_export * 2 > observed.pages;
    const bool nowhere = exported == 0 || exchanged.result == 0;
    consumer = consumer || (nowhere && (observed.read - in_export) * 2 > observed.pages);
  }
  Copier copier;
  if (producer || consumer) copier.library = producer ? "producer" : "consumer";
  if (producer && consumer) {
    warn(copier.warnings, "copied-twice", "copied twice: by the producer and by the consumer");
  }
  if (recorder.facts().struct_name == "versioned") {
    const bool flagged = contains(recorder.facts().flags, "is-copied");
    if (flagged && !producer && exported != 0) {
      warn(copier.warnings, "flag-without-copy",
           "IS_COPIED is set, but the producer exported its own memory");
    }
    if (!flagged && producer) {
      warn(copier.warnings, "copy-without-flag", "the producer copied without setting IS_COPIED");
    }
  }
  return copier;
}

void warn_of_false_flag(const Observation& observed, Outcome outcome, Warnings& warnings) {
  if (outcome != Outcome::zero_copy || !contains(observed.flags, "is-copied")) return;
  warn(warnings, "flag-without-copy", "IS_COPIED is set, but the memory is the producer's own");
}

}  // namespace dlbench::worker
