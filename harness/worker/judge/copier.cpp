#include "worker/judge/copier.hpp"

#include <algorithm>
#include <optional>

namespace dlbench::worker {
namespace {

// The code that reads matters here, not the amount.
constexpr std::size_t kPagesToFindCopier = 256;

bool has_flag(const std::vector<std::string>& flags, const char* flag) {
  return std::find(flags.begin(), flags.end(), flag) != flags.end();
}

struct Crossed {
  std::uintptr_t result = 0;  ///< address, 0 where not known
  std::optional<Guarded> guarded;
};

std::uintptr_t address_of(PyObject* result, const Steps& steps) try {
  return steps.place(result).view.address;
} catch (const Failure&) {
  return 0;
}

Crossed cross(const Steps& steps, const exchange::View& source, bool guarded) {
  Crossed crossed;
  if (guarded) {
    try {
      Steps noting = steps;
      noting.judge = [&](PyObject* result) { crossed.result = address_of(result, steps); };
      crossed.guarded = cross_guarded(source, noting, kPagesToFindCopier);
      return crossed;
    } catch (const Failure&) {
    } catch (const exchange::GuardError&) {
    }
  }
  const Ref result = steps.call();
  steps.wait(result.get());
  crossed.result = address_of(result.get(), steps);
  return crossed;
}

}  // namespace

Copier copier_of(const Steps& steps, const Recorder& recorder, const exchange::View& source,
                 bool guarded) {
  const Crossed crossed = cross(steps, source, guarded);
  const std::uintptr_t handed = recorder.address();
  bool producer = handed != 0 && handed != source.address;
  bool consumer = handed != 0 && crossed.result != 0 && crossed.result != handed;
  if (crossed.guarded) {
    const GuardSeen& seen = crossed.guarded->seen;
    const std::uint64_t in_export = crossed.guarded->in_export;
    // More than a few values: half of them, since a page that was read before does not count.
    producer = producer || in_export * 2 > seen.pages;
    const bool nowhere = handed == 0 || crossed.result == 0;
    consumer = consumer || (nowhere && (seen.read - in_export) * 2 > seen.pages);
  }
  Copier copier;
  if (producer || consumer) copier.library = producer ? "producer" : "consumer";
  if (producer && consumer) {
    warn(copier.warnings, "copied-twice", "copied twice: by the producer and by the consumer");
  }
  if (recorder.facts().struct_name == "versioned") {
    const bool flagged = has_flag(recorder.facts().flags, "is-copied");
    if (flagged && !producer && handed != 0) {
      warn(copier.warnings, "flag-without-copy",
           "IS_COPIED is set, but the producer exported its own memory");
    }
    if (!flagged && producer) {
      warn(copier.warnings, "copy-without-flag", "the producer copied without setting IS_COPIED");
    }
  }
  return copier;
}

void warn_of_false_flag(const Seen& seen, Outcome outcome, Warnings& warnings) {
  if (outcome != Outcome::zero_copy || !has_flag(seen.flags, "is-copied")) return;
  warn(warnings, "flag-without-copy", "IS_COPIED is set, but the memory is the producer's own");
}

}  // namespace dlbench::worker
