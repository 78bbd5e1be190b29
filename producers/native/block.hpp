#pragma once

#include <dlpack/dlpack.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <unordered_set>
#include <utility>

#include "array_struct.hpp"
#include "count.hpp"
#include "layout.hpp"

namespace dlbench::native {

inline constexpr DLPackVersion kVersion{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};

/// An array's memory, owned by the array and its exports together. It owns no Python object, so
/// that a deleter works on any thread, without the GIL, and after the interpreter has ended.
class Block {
 public:
  struct Drop {
    void operator()(Block* block) const { block->drop(); }
  };
  /// Releases the creator's reference.
  using Owner = std::unique_ptr<Block, Drop>;

  /// A copy of the bytes at `source`, at the same distance from the start of a page.
  static Owner copy_of(Layout layout, const void* source) {
    const auto first = reinterpret_cast<std::uintptr_t>(source);
    const auto low = static_cast<std::uintptr_t>(layout.low());
    Owner block(new Block(std::move(layout)));
    block->allocate((first + low) % kPage);
    std::memcpy(block->address() + block->layout_.low(),
                static_cast<const std::byte*>(source) + block->layout_.low(), block->extent());
    return block;
  }

  /// Uninitialized memory, in C order.
  static Owner blank(Layout layout) {
    layout.set_c_strides();
    return unfilled(std::move(layout));
  }

  /// Memory with no content yet.
  static Owner unfilled(Layout layout) {
    Owner block(new Block(std::move(layout)));
    block->allocate(0);
    return block;
  }

  /// A copy in C order.
  static Owner compact_copy_of(const Block& other) {
    Layout layout = other.layout_;
    layout.readonly = false;
    Owner block = blank(std::move(layout));
    other.layout_.pack(other.address(), block->address());
    return block;
  }

  /// The memory of a foreign export on any device, which is released with the block.
  static Owner around(Layout layout, DLManagedTensorVersioned* foreign) {
    Owner block(new Block(std::move(layout)));
    block->foreign_ = foreign;
    block->place(static_cast<std::byte*>(foreign->dl_tensor.data) + foreign->dl_tensor.byte_offset);
    block->tensor_.device = foreign->dl_tensor.device;
    return block;
  }

  Block(const Block&) = delete;
  Block& operator=(const Block&) = delete;

  const Layout& layout() const { return layout_; }
  const DLTensor& tensor() const { return tensor_; }
  const ArrayStruct& array_struct() const { return struct_; }
  std::byte* address() const { return static_cast<std::byte*>(tensor_.data); }
  std::size_t extent() const { return static_cast<std::size_t>(layout_.high() - layout_.low()); }
  bool is_c_contiguous() const { return (struct_.flags & kCContiguous) != 0; }
  bool is_f_contiguous() const { return (struct_.flags & kFContiguous) != 0; }
  /// DLPack counts strides in elements.
  bool fits_dlpack() const { return fits_dlpack_; }

  /// A managed tensor whose deleter releases its reference. Null if no memory is left.
  DLManagedTensorVersioned* export_tensor(std::uint64_t flags) {
    BorrowedTensor* borrowed = acquire_borrowed();
    if (borrowed == nullptr) return nullptr;
    borrowed->versioned = {kVersion, this, &release_managed<DLManagedTensorVersioned>, flags,
                           tensor_};
    return &borrowed->versioned;
  }
  DLManagedTensor* export_legacy() {
    BorrowedTensor* borrowed = acquire_borrowed();
    if (borrowed == nullptr) return nullptr;
    borrowed->legacy = {tensor_, this, &release_managed<DLManagedTensor>};
    return &borrowed->legacy;
  }

  /// The numbers of exported and of deleted managed tensors, of all blocks so far.
  struct Counts {
    std::uint64_t exported = 0;
    std::uint64_t deleted = 0;
  };
  static Counts counts() {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    Counts sum = all.gone;
    for (const Block* block : all.blocks) sum = sum + block->own_counts();
    return sum;
  }

 private:
  static constexpr std::size_t kPage = 4096;
  // The count after the creator's reference is released and all exports are deleted.
  static constexpr std::uint64_t kOver = std::uint64_t{1} << 63;

  union BorrowedTensor {
    DLManagedTensorVersioned versioned;
    DLManagedTensor legacy;
  };

  struct Registry {
    std::mutex mutex;
    std::unordered_set<const Block*> blocks;
    Counts gone;
  };
  // Never destroyed, because deleters may be called after static destructors.
  static Registry& registry() {
    static Registry& all = *new Registry;
    return all;
  }

  struct Free {
    void operator()(std::byte* memory) const { ::operator delete(memory, std::align_val_t(kPage)); }
  };

  explicit Block(Layout layout) : layout_(std::move(layout)) {
    const std::intptr_t bytes = layout_.dtype->bytes;
    for (const std::intptr_t stride : layout_.strides) {
      fits_dlpack_ = fits_dlpack_ && stride % bytes == 0;
      strides_.push_back(stride / bytes);
    }
    shape_.assign(layout_.shape.begin(), layout_.shape.end());
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.blocks.insert(this);
  }

  ~Block() {
    if (foreign_ != nullptr && foreign_->deleter != nullptr) foreign_->deleter(foreign_);
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    all.blocks.erase(this);
    all.gone = all.gone + own_counts();
  }

  void allocate(std::size_t residue) {
    const std::size_t size = std::max<std::size_t>(extent(), 1);
    memory_.reset(static_cast<std::byte*>(::operator new(residue + size, std::align_val_t(kPage))));
    place(memory_.get() + residue - layout_.low());
  }

  void place(std::byte* first) {
    const Dtype& dtype = *layout_.dtype;
    tensor_ = {first,
               {kDLCPU, 0},
               static_cast<std::int32_t>(shape_.size()),
               dtype.dlpack(),
               shape_.data(),
               strides_.data(),
               0};
    int flags = kNotSwapped;
    if (layout_.is_c_contiguous()) flags |= kCContiguous;
    if (layout_.is_f_contiguous()) flags |= kFContiguous;
    if (!layout_.readonly) flags |= kWriteable;
    const std::size_t alignment =
        dtype.kind == 'c' ? std::size_t{dtype.bytes} / 2 : std::size_t{dtype.bytes};
    if (reinterpret_cast<std::uintptr_t>(first) % alignment == 0) flags |= kAligned;
    struct_ = {2,
               static_cast<int>(shape_.size()),
               dtype.kind,
               dtype.bytes,
               flags,
               layout_.shape.data(),
               layout_.strides.data(),
               first,
               nullptr};
  }

  // No export is made after this. From now on the count is kOver minus the number of open exports.
  void drop() { count(kOver - exported_); }

  // The block's own slot is free if nothing else is exported.
  BorrowedTensor* acquire_borrowed() {
#ifdef Py_GIL_DISABLED
    const bool is_free = !slot_taken_.test_and_set(std::memory_order_acquire);
#else
    const bool is_free = returned_.load(std::memory_order_acquire) == exported_;
#endif
    BorrowedTensor* borrowed = is_free ? &slot_ : new (std::nothrow) BorrowedTensor;
    if (borrowed != nullptr) ++exported_;
    return borrowed;
  }

  template <typename Managed>
  static void release_managed(Managed* managed) {
    auto* block = static_cast<Block*>(managed->manager_ctx);
    auto* borrowed = reinterpret_cast<BorrowedTensor*>(managed);
    if (borrowed != &block->slot_) {
      delete borrowed;
    } else {
#ifdef Py_GIL_DISABLED
      block->slot_taken_.clear(std::memory_order_release);
#endif
    }
    block->count(1);
  }

  // Uses only the sum, because another thread may have deleted the block.
  void count(std::uint64_t more) {
    if (returned_.fetch_add(more, std::memory_order_acq_rel) + more == kOver) [[unlikely]]
      delete this;
  }

  Counts own_counts() const {
    const std::uint64_t counted = returned_.load(std::memory_order_relaxed);
    const std::uint64_t exported = exported_;
    return {exported, counted > kOver / 2 ? counted - (kOver - exported) : counted};
  }

  friend Counts operator+(Counts a, Counts b) {
    return {a.exported + b.exported, a.deleted + b.deleted};
  }

  // Released on any thread; exported with the GIL, or on any thread without a GIL.
  Count exported_ = 0;
#ifdef Py_GIL_DISABLED
  std::atomic_flag slot_taken_;
#endif
  std::atomic<std::uint64_t> returned_{0};
  DLTensor tensor_{};
  BorrowedTensor slot_;
  bool fits_dlpack_ = true;
  ArrayStruct struct_;
  Layout layout_;
  std::vector<std::int64_t> shape_;
  std::vector<std::int64_t> strides_;  // in elements
  std::unique_ptr<std::byte, Free> memory_;
  DLManagedTensorVersioned* foreign_ = nullptr;
};

}  // namespace dlbench::native
