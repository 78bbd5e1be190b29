#include "worker/judge/guarded.hpp"

#include <algorithm>
#include <csignal>

#include "exchange/guard/maps.hpp"
#include "exchange/layout.hpp"
#include "model/contains.hpp"

namespace dlbench::worker {
namespace {

using exchange::Extent;
using exchange::Guard;
using exchange::Observations;
using exchange::Stage;
using exchange::View;

// The fewest pages from which reading all pages means a copy.
constexpr std::uint64_t kFewestPages = 4;
// A read of a few values (a checksum of the ends, a test for NaN) is no copy.
constexpr std::uint64_t kFewPagesShare = 8;

// Reads a byte of each page, which fills memory that is filled on its first read.
void touch(const Extent& extent) {
  constexpr std::uintptr_t kStep = 4096;
  for (std::uintptr_t at = extent.begin; at < extent.end; at += kStep) {
    (void)*reinterpret_cast<const volatile unsigned char*>(at);
  }
}

/// How much of a result could be read.
enum class Readable {
  address,  ///< its address
  values,   ///< only its values, at another address than the source; the result may still share
            ///< memory
  nothing,  ///< nothing
};

// Reads the values of a result that is not the source's memory, so that a lazy library copies now.
Readable read_result(PyObject* result, const Extent& source, const Steps& steps) {
  Readable readable = Readable::address;
  try {
    if (const Held place = steps.place(result); extent_of(place.view).overlaps(source)) {
      return readable;
    }
  } catch (const Failure&) {
    readable = Readable::values;
  }
  try {
    const Held values = steps.values(result);
    if (!exchange::on_host(values.view.device)) return readable;
    const Extent found = extent_of(values.view);
    if (found.overlaps(source)) return Readable::address;
    touch(found);
  } catch (const Failure&) {
    // Memory that can never be read is no failure of the guard; the caller reports it.
    if (readable == Readable::address) throw;
    return Readable::nothing;
  }
  return readable;
}

std::uint64_t pages_in(const exchange::PageCounts& counts, Stage stage) {
  return counts[static_cast<std::size_t>(stage)];
}

std::string pages(std::uint64_t some, std::uint64_t all) {
  return std::to_string(some) + " of " + std::to_string(all) + " pages";
}

Proof word_of(const GuardCounts& observed, std::uint64_t written_first, Warnings& warnings) {
  if (observed.read == 0) return Proof::yes;
  // Reads of a page after its first write are not observed.
  if (observed.read + written_first >= observed.pages) {
    return observed.pages < kFewestPages ? Proof::skipped : Proof::no;
  }
  const std::string some = pages(observed.read, observed.pages) + " of the source were read";
  const Warning::Data data{{"read", std::to_string(observed.read)},
                           {"pages", std::to_string(observed.pages)}};
  if (observed.late > 0) {
    warn(warnings, "read-late", some + ", some of them only after `ready`", data);
    return Proof::skipped;
  }
  if (observed.read <= std::max<std::uint64_t>(1, observed.pages / kFewPagesShare)) {
    warn(warnings, "few-pages-read", some + ": a few values, not a copy", data);
    return Proof::yes;
  }
  warn(warnings, "partly-read", some + ": more than a few values, less than a copy", data);
  return Proof::skipped;
}

void add(const Observations& sighting, GuardCounts& observed) {
  observed.written = std::min(observed.pages, observed.written + sighting.all_written());
  for (const exchange::Accessor& accessor : sighting.accessors) {
    add_new(observed.by, accessor.library);
  }
}

void warn_of_writes(const View& source, const exchange::PageCounts& call, std::uint64_t in_release,
                    Guarded& guarded) {
  const std::string of = " of the producer's array" +
                         std::string(source.readonly ? ", which is exported read-only" : "");
  const std::uint64_t all = guarded.observed.pages;
  const std::uint64_t own = pages_in(call, Stage::producer);
  std::uint64_t others = 0;
  for (const std::uint64_t count : call) others += count;
  others -= own;
  const auto warn_of = [&](const char* by, const char* text, std::uint64_t some) {
    if (some == 0) return;
    warn(guarded.warnings, "source-written", text + (" wrote into " + pages(some, all)) + of,
         {{"by", by}, {"pages", std::to_string(some)}, {"of", std::to_string(all)}});
  };
  warn_of("export", "the export", own);
  warn_of("consumer", "the consumer", others);
  warn_of("release", "the release of the result", in_release);
}

}  // namespace

std::optional<Held> place_to_guard(PyObject* source, const Library& producer) try {
  Held place = read_place(source, producer);
  if (place.view.device != exchange::Device{}) return {};
  const Extent extent = extent_of(place.view);
  if (Guard::whole_pages(extent.begin, extent.bytes()) == 0) return {};
  if (read_place(source, producer).view.address != place.view.address) return {};
  return place;
} catch (const Failure&) {
  return {};
} catch (const exchange::ViewError&) {
  return {};
}

Guarded exchange_guarded(const View& source, const Steps& steps, std::size_t most_pages) {
  if (exchange::threads_blocking(SIGSEGV) > 0) {
    throw exchange::GuardError("a thread of this process blocks SIGSEGV");
  }
  const Extent extent = extent_of(source);
  Guard guard(extent.begin, extent.bytes(), most_pages);
  Ref result = steps.call();
  guard.returned();
  steps.wait(result.get());
  guard.enter(Stage::check);
  const Readable readable = read_result(result.get(), extent, steps);
  Observations observed = guard.lift();
  if (readable != Readable::address) {
    // A lazy copy cannot be distinguished from dlbench's own read through a view.
    observed.read[static_cast<std::size_t>(Stage::check)] = 0;
  } else if (pages_in(observed.read, Stage::check) > 0) {
    // A library that copies a result on every read is not lazy.
    Guard again(extent.begin, extent.bytes(), most_pages);
    read_result(result.get(), extent, steps);
    const bool always = again.lift().all_read() > 0;
    if (always) observed.read[static_cast<std::size_t>(Stage::check)] = 0;
  }
  if (steps.judge) steps.judge(result.get());
  Guard releasing(extent.begin, extent.bytes(), most_pages);
  releasing.enter(Stage::release);
  result = {};
  const Observations released = releasing.lift();

  Guarded guarded;
  guarded.observed.pages = observed.pages;
  guarded.observed.read = observed.all_read();
  guarded.observed.late =
      pages_in(observed.read, Stage::late) + pages_in(observed.read, Stage::check);
  guarded.in_export = pages_in(observed.read, Stage::producer);
  add(observed, guarded.observed);
  add(released, guarded.observed);
  if (guarded.observed.read + guarded.observed.written == 0) guarded.observed.by.clear();
  if (observed.complete && released.complete) {
    guarded.word = word_of(guarded.observed, observed.written_first, guarded.warnings);
    // No read so far proves nothing if the values lie elsewhere: pages may be read later.
    const bool may_be_read = readable == Readable::values && guarded.word == Proof::yes;
    if (may_be_read || readable == Readable::nothing) guarded.word = Proof::skipped;
  } else {
    warn(guarded.warnings, "pages-not-restored",
         "guard: the system could not restore single pages");
  }
  if (pages_in(observed.read, Stage::check) > 0) {
    warn(guarded.warnings, "copied-lazily", "copied when the result was first read, after `ready`");
  }
  warn_of_writes(source, observed.written, released.all_written(), guarded);
  return guarded;
}

}  // namespace dlbench::worker
