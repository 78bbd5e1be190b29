#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "exchange/guard/guard_state.hpp"

// Runs inside signal handlers: no allocation, no lock, and no library call except system calls.
namespace dlbench::exchange::guard {
namespace {

constexpr std::uint8_t kRead = 1;
constexpr std::uint8_t kWritten = 2;

/// The state of a thread at a fault.
struct Place {
  std::uintptr_t pc;
  std::uintptr_t stack;
  std::uintptr_t link;  ///< return address kept in a register, or 0
  bool write;
};

Place place_of(const ucontext_t& context) {
#if defined(__x86_64__)
  constexpr greg_t kWriteBit = 2;
  const auto& registers = context.uc_mcontext.gregs;
  return {static_cast<std::uintptr_t>(registers[REG_RIP]),
          static_cast<std::uintptr_t>(registers[REG_RSP]), 0,
          (registers[REG_ERR] & kWriteBit) != 0};
#elif defined(__aarch64__)
  // The syndrome register is in a list of records after the general registers.
  constexpr std::uint32_t kSyndrome = 0x45535201;
  constexpr std::uint64_t kWriteBit = 1U << 6;
  struct Head {
    std::uint32_t magic;
    std::uint32_t size;
  };
  const auto& machine = context.uc_mcontext;
  bool write = false;
  const unsigned char* record = machine.__reserved;
  const unsigned char* const end = record + sizeof machine.__reserved;
  while (record + sizeof(Head) <= end) {
    Head head;
    std::memcpy(&head, record, sizeof head);
    if (head.magic == kSyndrome) {
      std::uint64_t syndrome;
      std::memcpy(&syndrome, record + sizeof head, sizeof syndrome);
      write = (syndrome & kWriteBit) != 0;
    }
    if (head.magic == kSyndrome || head.size < sizeof head) break;
    record += head.size;
  }
  return {machine.pc, machine.sp, machine.regs[30], write};
#else
  (void)context;
  return {};
#endif
}

// Reads only up to the end of the stack's page, because the next page may not be mapped.
[[gnu::no_sanitize_address]] void record_stack(const Place& place, Sample& sample) {
  constexpr std::uintptr_t kSmallestPage = 4096;
  const std::uintptr_t end = (place.stack / kSmallestPage + 1) * kSmallestPage;
  if (place.link != 0) sample.stack[sample.words++] = place.link;
  const auto* word = reinterpret_cast<const volatile std::uintptr_t*>(place.stack);
  const auto* const last = reinterpret_cast<const volatile std::uintptr_t*>(end);
  while (word + 1 <= last && sample.words < kStackWords) sample.stack[sample.words++] = *word++;
}

void record_sample(const Place& place) {
  State& all = state();
  const std::size_t slot = all.sample_count.fetch_add(1);
  if (slot >= kMostSamples) {
    all.sample_count.store(kMostSamples);
    return;
  }
  Sample& sample = all.samples[slot];
  sample.pc = place.pc;
  sample.words = 0;
  sample.thread = ::syscall(SYS_gettid);
  sample.wrote = place.write;
  record_stack(place, sample);
  sample.filled.store(true);
}

// Samples the first accesses, then the 2^n-th, and the first of each stage and kind.
void count(const Place& place) {
  State& all = state();
  auto& counters = place.write ? all.written : all.read;
  const bool first = counters[static_cast<std::size_t>(all.stage.load())].fetch_add(1) == 0;
  const std::uint64_t before = all.faults.fetch_add(1);
  if (first || before < 16 || (before & (before - 1)) == 0) record_sample(place);
}

bool writable(std::uintptr_t address) {
  const Watched& watched = state().watched;
  for (std::size_t i = 0; i < watched.segment_count; ++i) {
    const Mapping& segment = watched.segments[i];
    if (address >= segment.begin && address < segment.end) {
      return (segment.protection & PROT_WRITE) != 0;
    }
  }
  return false;
}

bool restore_protection(std::size_t piece, int mask) {
  const Watched& watched = state().watched;
  const std::uintptr_t begin = watched.begin + piece * watched.piece_bytes;
  const std::uintptr_t end = std::min(begin + watched.piece_bytes, watched.end);
  return protect(begin, end, mask);
}

bool was_just_lifted(std::uintptr_t address);

/// Returns true if the guard caused the fault; the access can then be repeated.
bool handle(std::uintptr_t address, const Place& place) {
  State& all = state();
  const Watched& watched = all.watched;
  const Phase phase = all.shift.phase();
  if (phase == Phase::down || address < watched.begin || address >= watched.end) {
    return was_just_lifted(address);
  }
  const std::size_t piece = (address - watched.begin) / watched.piece_bytes;
  // The thread that lifts the guard, or one that handles a read of this page, may be preempted.
  if (phase != Phase::up) return restore_protection(piece, ~0);
  // The access would have faulted without the guard.
  if (place.write && !writable(address)) {
    restore_protection(piece, ~0);
    return false;
  }
  const std::uint8_t before = all.touched[piece].fetch_or(place.write ? kWritten : kRead);
  if ((before & (place.write ? kWritten : kRead | kWritten)) == 0) {
    count(place);
    if (place.write && before == 0) all.written_first.fetch_add(1);
  } else if (all.repeats.fetch_add(1) > 64 * watched.pieces + 4096) {
    return false;  // other code keeps protecting the page
  }
  const bool open = (all.touched[piece].load() & kWritten) != 0;
  if (!restore_protection(piece, open ? ~0 : PROT_READ | PROT_EXEC)) {
    // Restoring single pages splits mappings, whose number is limited.
    all.gave_up.store(true);
    if (!protect(watched.begin, watched.end, ~0)) return false;
  }
  if (all.shift.phase() != Phase::up) restore_protection(piece, ~0);
  return true;
}

struct Lifted {
  std::atomic<std::uintptr_t> begin{0};
  std::atomic<std::uintptr_t> end{0};
  std::atomic<int> forgiven{0};
};
std::array<Lifted, 4> lifted;
std::atomic<std::size_t> next_lifted{0};

// Did the fault begin before the guard was lifted? That happens once for each thread; a repeated
// fault has another cause.
bool was_just_lifted(std::uintptr_t address) {
  constexpr int kMostForgiven = 256;
  for (Lifted& one : lifted) {
    if (address < one.begin.load() || address >= one.end.load()) continue;
    const int before = one.forgiven.fetch_add(1);
    if (before < kMostForgiven) return true;
  }
  return false;
}

}  // namespace

bool is_guarded(siginfo_t* info, const void* context) {
  if (info->si_code != SEGV_ACCERR) return false;
  State& all = state();
  all.shift.enter();
  const bool ours = handle(reinterpret_cast<std::uintptr_t>(info->si_addr),
                           place_of(*static_cast<const ucontext_t*>(context)));
  all.shift.leave();
  return ours;
}

State& state() {
  constinit static State only;
  return only;
}

bool protect(std::uintptr_t begin, std::uintptr_t end, int mask) {
  const Watched& watched = state().watched;
  bool done = true;
  for (std::size_t i = 0; i < watched.segment_count; ++i) {
    const Mapping& segment = watched.segments[i];
    const std::uintptr_t from = std::max(begin, segment.begin);
    const std::uintptr_t to = std::min(end, segment.end);
    if (from >= to) continue;
    void* const start = reinterpret_cast<void*>(from);
    done = ::mprotect(start, to - from, segment.protection & mask) == 0 && done;
  }
  return done;
}

void remember_lifted(std::uintptr_t begin, std::uintptr_t end) {
  Lifted& one = lifted[next_lifted.fetch_add(1) % lifted.size()];
  one.begin.store(0);
  one.end.store(end);
  one.forgiven.store(0);
  one.begin.store(begin);
}

}  // namespace dlbench::exchange::guard
