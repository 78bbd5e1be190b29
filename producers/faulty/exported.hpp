#pragma once

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "../native/block.hpp"
#include "delay.hpp"

namespace dlbench::faulty {

/// The faults of a deleter.
enum class DeleterFault : unsigned char { none, slow, never, once_only, write_back };

/// A wrapper around a correct managed tensor, with its own deleter. The consumer owns it and calls
/// the deleter; with `held_by_capsule` the capsule owns it too.
template <typename Managed>
struct Exported {
  Managed managed;
  Managed* honest;
  DeleterFault deleter_fault = DeleterFault::none;
  std::shared_ptr<Delay> delay;
  std::vector<std::int64_t> numbers;  // its own shape or strides
  std::byte* low = nullptr;           // the exported memory
  std::size_t extent = 0;
  DLManagedTensorVersioned* source = nullptr;  // where the content is written back to
  std::byte* source_low = nullptr;
  std::atomic<int> holders{1};
  std::atomic<int> deletions{0};

  explicit Exported(Managed* around) : managed(*around), honest(around) {
    managed.manager_ctx = this;
    managed.deleter = &Exported::release_managed;
  }
  Exported(const Exported&) = delete;
  Exported& operator=(const Exported&) = delete;

  static Exported* of(Managed* managed) { return static_cast<Exported*>(managed->manager_ctx); }

  void let_go() {
    if (holders.fetch_sub(1) == 1) delete this;
  }

 private:
  static void release_managed(Managed* managed) {
    Exported* exported = of(managed);
    switch (exported->deleter_fault) {
      case DeleterFault::never:
        return;
      case DeleterFault::once_only:
        // Never freed, so that a second call is detected instead of corrupting the heap.
        if (exported->deletions.fetch_add(1) > 0) {
          std::fputs("faulty: its deleter was called twice\n", stderr);
          std::abort();
        }
        exported->honest->deleter(exported->honest);
        return;
      case DeleterFault::write_back:
        std::memcpy(exported->source_low, exported->low, exported->extent);
        exported->source->deleter(exported->source);
        break;
      case DeleterFault::slow:
        exported->delay->spin();
        break;
      case DeleterFault::none:
        break;
    }
    exported->honest->deleter(exported->honest);
    exported->let_go();
  }
};

}  // namespace dlbench::faulty
