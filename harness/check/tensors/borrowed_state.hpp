#pragma once

#include <dlpack/dlpack.h>
#include <sys/mman.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <string_view>
#include <thread>

#include "check/tensors/memory.hpp"

namespace dlbench::check {

/// The behavior of a deleter, in the order of kDeleters. All except the first two are faults.
enum class Deleter : unsigned char {
  honest,
  null,
  never,
  wants_gil,
  wants_thread,
  wants_python,
  leaks
};
inline constexpr std::string_view kDeleters[] = {
    "honest", "null", "never", "wants-gil", "wants-thread", "wants-python", "leaks"};
/// The behavior of the capsule's destructor, in the order of kDestructors.
enum class Destructor : unsigned char { honest, none, regardless };
inline constexpr std::string_view kDestructors[] = {"honest", "none", "regardless"};

struct BorrowedState;

/// A managed struct and a pointer to its BorrowedState, for deleters with a manager_ctx of NULL.
template <typename Managed>
struct Exported {
  Managed managed{};
  BorrowedState* state = nullptr;
};

/// The state that a BorrowedTensor and its exports share. It lives until all of them are released,
/// so that a second deletion is counted instead of corrupting the heap.
struct BorrowedState {
  std::shared_ptr<Bytes> memory;
  std::vector<std::int64_t> shape, strides;
  bool is_legacy = false;
  bool poisons = true;
  Deleter deleter = Deleter::honest;
  Destructor destructor = Destructor::honest;
  const char* name = nullptr;
  Exported<DLManagedTensor> legacy{};
  Exported<DLManagedTensorVersioned> own{};
  DLManagedTensorVersioned* versioned = &own.managed;
  void* trap = nullptr;  // two pages; the second has no read access
  std::thread::id made_on = std::this_thread::get_id();

  std::atomic<unsigned> deletions{0};
  std::atomic<bool> had_gil{false};
  std::atomic<int> holders{1};

  // Does the capsule's destructor delete? Some faults apply only to deletion by a consumer.
  static inline thread_local bool by_capsule = false;

  static constexpr std::size_t kPage = 4096;

  ~BorrowedState() {
    if (trap != nullptr) ::munmap(trap, 2 * kPage);
  }

  void let_go() {
    if (holders.fetch_sub(1) == 1) delete this;
  }

  /// Moves the versioned struct so that everything after its flags lies on a page without read
  /// access.
  bool set_trap() {
    trap = ::mmap(nullptr, 2 * kPage, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (trap == MAP_FAILED) {
      trap = nullptr;
      return false;
    }
    auto* border = static_cast<std::byte*>(trap) + kPage;
    versioned = reinterpret_cast<DLManagedTensorVersioned*>(
        border - offsetof(DLManagedTensorVersioned, dl_tensor));
    *versioned = own.managed;
    return ::mprotect(border, kPage, PROT_NONE) == 0;
  }

  void deleted() {
    const bool python = Py_IsInitialized() != 0;
    const bool first = deletions.fetch_add(1) == 0;
    had_gil = python && PyGILState_Check() == 1;
    switch (deleter) {
      case Deleter::never:
        return;
      case Deleter::wants_gil:
        if (python && !had_gil) die("needs the GIL");
        break;
      case Deleter::wants_thread:
        if (std::this_thread::get_id() != made_on) die("needs the exporting thread");
        break;
      case Deleter::wants_python:
        if (!python) die("needs a running interpreter");
        break;
      case Deleter::leaks: {
        if (by_capsule) break;
        // A volatile variable, so that the compiler does not remove the allocation.
        static void* volatile lost;
        lost = std::malloc(1024);
        static_cast<void>(lost);
        break;
      }
      default:
        break;
    }
    if (!first) return;
    if (poisons) memory->poison();
    let_go();
  }

  [[noreturn]] static void die(const char* why) {
    std::fprintf(stderr, "dlbench's planted deleter %s\n", why);
    std::abort();
  }

  template <typename Managed>
  static void delete_tensor(Managed* managed) {
    auto* state = static_cast<BorrowedState*>(managed->manager_ctx);
    if (state == nullptr) state = reinterpret_cast<Exported<Managed>*>(managed)->state;
    state->deleted();
  }
};

}  // namespace dlbench::check
