#include "exchange/guard/guard.hpp"

#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "exchange/guard/guard_state.hpp"
#include "model/page.hpp"

namespace dlbench::exchange {
namespace {

using guard::State;
using guard::state;

struct Pages {
  std::uintptr_t begin = 0;
  std::uintptr_t end = 0;
};

Pages whole(std::uintptr_t address, std::uint64_t bytes) {
  const std::uintptr_t page = page_bytes();
  const std::uintptr_t begin = (address + page - 1) / page * page;
  const std::uintptr_t end = (address + bytes) / page * page;
  return begin < end ? Pages{begin, end} : Pages{};
}

// Handlers do not block, so this wait is short.
void wait_for_handlers() {
  const auto limit = std::chrono::steady_clock::now() + std::chrono::seconds(2);
  while (state().shift.handlers() != 0) {
    if (std::chrono::steady_clock::now() > limit) {
      throw GuardError("a fault of an earlier guard is still being handled");
    }
    ::sched_yield();
  }
}

std::vector<Mapping> readable_mappings(const Pages& pages) {
  std::vector<Mapping> mappings = mappings_of(pages.begin, pages.end);
  std::uintptr_t reached = pages.begin;
  for (const Mapping& mapping : mappings) {
    if (mapping.begin != reached || !(mapping.protection & PROT_READ)) break;
    reached = mapping.end;
  }
  if (reached != pages.end) throw GuardError("not all of the memory is readable");
  if (mappings.size() > guard::kMostSegments) {
    throw GuardError("the memory has too many mappings");
  }
  return mappings;
}

void reset(const Pages& pages, const std::vector<Mapping>& mappings, std::size_t most_pages) {
  State& all = state();
  const std::uintptr_t page = page_bytes();
  const std::uintptr_t count = (pages.end - pages.begin) / page;
  const std::uintptr_t grouped = (count + most_pages - 1) / most_pages;
  all.watched = {pages.begin, pages.end, grouped * page, (count + grouped - 1) / grouped, {}, 0};
  std::copy(mappings.begin(), mappings.end(), all.watched.segments.begin());
  all.watched.segment_count = mappings.size();
  for (std::size_t i = 0; i < all.watched.pieces; ++i) all.touched[i].store(0);
  for (std::size_t i = 0; i < kStages; ++i) {
    all.read[i].store(0);
    all.written[i].store(0);
  }
  all.written_first.store(0);
  all.faults.store(0);
  all.repeats.store(0);
  all.gave_up.store(false);
  all.sample_count.store(0);
  for (guard::Sample& sample : all.samples) sample.filled.store(false);
  all.stage.store(Stage::call);
}

PageCounts counts(const std::array<std::atomic<std::uint64_t>, kStages>& of) {
  PageCounts read{};
  for (std::size_t i = 0; i < kStages; ++i) read[i] = of[i].load();
  return read;
}

}  // namespace

StageSpan::StageSpan(Stage stage) : before_(state().stage.exchange(stage)) {}

StageSpan::~StageSpan() {
  state().stage.store(before_);
}

std::uint64_t Observations::all_read() const {
  return std::accumulate(read.begin(), read.end(), std::uint64_t{0});
}

std::uint64_t Observations::all_written() const {
  return std::accumulate(written.begin(), written.end(), std::uint64_t{0});
}

std::uint64_t Guard::whole_pages(std::uintptr_t address, std::uint64_t bytes) {
  const Pages pages = whole(address, bytes);
  return (pages.end - pages.begin) / page_bytes();
}

Guard::Guard(std::uintptr_t address, std::uint64_t bytes, std::size_t most_pages) {
  const Pages pages = whole(address, bytes);
  if (pages.begin == pages.end) throw GuardError("the memory contains no whole page");
  if (state().shift.phase() == guard::Phase::up) throw GuardError("another guard is active");
  // Wait for handlers of the former guard. They may still remove write access from a page, and may
  // read the fields that are written next.
  wait_for_handlers();
  state().shift.set(guard::Phase::down);
  wait_for_handlers();
  const std::vector<Mapping> mappings = readable_mappings(pages);
  guard::install_handler();
  reset(pages, mappings, std::clamp<std::size_t>(most_pages, 1, kMostPages));
  state().shift.set(guard::Phase::up);
  is_up_ = true;
  if (::mprotect(reinterpret_cast<void*>(pages.begin), pages.end - pages.begin, PROT_NONE) != 0) {
    lift();
    throw GuardError("mprotect cannot remove access to the pages");
  }
}

Guard::~Guard() {
  if (is_up_) lift();
}

void Guard::enter(Stage stage) {
  state().stage.store(stage);
}

Observations Guard::lift() {
  State& all = state();
  const guard::Watched& watched = all.watched;
  // The order matters: a handler that changes a page after this store sees the new phase and
  // restores the page's former protection.
  guard::remember_lifted(watched.begin, watched.end);
  all.shift.set(guard::Phase::lifting);
  const bool restored = guard::protect(watched.begin, watched.end, ~0);
  all.shift.set(guard::Phase::restored);
  is_up_ = false;
  Observations observed;
  observed.pages = watched.pieces;
  observed.page_bytes = watched.piece_bytes;
  observed.read = counts(all.read);
  observed.written = counts(all.written);
  observed.written_first = all.written_first.load();
  observed.complete = restored && !all.gave_up.load();
  const std::size_t samples = std::min(all.sample_count.load(), guard::kMostSamples);
  observed.accessors = guard::accessors(all.samples.data(), samples, ::syscall(SYS_gettid));
  return observed;
}

}  // namespace dlbench::exchange
