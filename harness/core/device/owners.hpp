#pragma once

#include <cstddef>
#include <utility>

#include "device/table.hpp"

/// Owners of device objects. The caller reports errors.
namespace dlbench::device {

/// Makes a device current for the calling thread, and restores the former one at the end of its
/// scope.
class Entered {
 public:
  Entered(const Table& table, int ordinal) : table_(table), code_(table.current(&before_)) {
    if (code_ == 0) code_ = table.enter(ordinal);
  }
  Entered(const Entered&) = delete;
  Entered& operator=(const Entered&) = delete;
  ~Entered() {
    // If no device was current before, keep this one current, because a library may rely on it.
    if (before_ != nullptr) table_.make_current(before_);
  }

  Code code() const { return code_; }

 private:
  const Table& table_;
  Current before_ = nullptr;
  Code code_;
};

/// Owns a handle. Empty until `create`; the destructor releases the object.
template <typename Handle, auto make, auto release_handle>
class Owned {
 public:
  explicit Owned(const Table& table) : table_(&table) {}
  Owned(Owned&& other) noexcept
      : table_(other.table_), handle_(std::exchange(other.handle_, Handle{})) {}
  Owned& operator=(Owned&&) = delete;
  ~Owned() {
    if (handle_ != Handle{}) release_handle(*table_, handle_);
  }

  /// `how`: the flags of a stream or an event, the bytes of memory.
  template <typename How>
  Code create(How how) {
    return (table_->*make)(&handle_, how);
  }
  Handle get() const { return handle_; }

 private:
  const Table* table_;
  Handle handle_{};
};

// Waits first, because work on the stream may write to memory that is freed next.
inline void end_stream(const Table& table, Stream stream) {
  table.stream_synchronize(stream);
  table.stream_destroy(stream);
}
inline void end_event(const Table& table, Event event) {
  table.event_destroy(event);
}
inline void free_memory(const Table& table, Address begin) {
  table.free(begin);
}
inline void free_pinned(const Table& table, void* begin) {
  table.free_pinned(begin);
}

using OwnStream = Owned<Stream, &Table::stream_create, &end_stream>;
using OwnEvent = Owned<Event, &Table::event_create, &end_event>;
using OwnMemory = Owned<Address, &Table::allocate, &free_memory>;
/// Host memory, pinned for the device.
using OwnPinned = Owned<void*, &Table::allocate_pinned, &free_pinned>;

}  // namespace dlbench::device
