#pragma once

#include <unistd.h>

#include <string>

#include "device/library.hpp"
#include "device/table.hpp"

namespace dlbench::device {

/// The same number in CUDA and HIP.
inline constexpr Code no_device = 100;

/// May this user open a device node of the kernel?
enum class Access { Absent, Denied, Open };

inline Access access_to(const char* path) noexcept {
  if (::access(path, F_OK) != 0) return Access::Absent;
  return ::access(path, R_OK | W_OK) == 0 ? Access::Open : Access::Denied;
}

/// The result of the first calls of a vendor's library.
struct FirstCalls {
  std::string missing;  ///< a function that the library lacks; otherwise empty
  std::string called;   ///< the last function that was called
  Code code = 0;        ///< its result
};

/// A vendor's texts for a library that cannot be used.
struct Vendor {
  const char* node;     ///< the device node that a user needs access to
  const char* too_old;  ///< why a function may be missing: "the driver is older than CUDA 11.4"
  State (*state_of)(Code, Access node) noexcept;
};

/// A table with the functions that CUDA and HIP have under one name.
template <typename Api>
Table shared_functions(const Api& from) {
  Table table;
  table.device_count = from.device_get_count;
  table.stream_create = from.stream_create;
  table.stream_destroy = from.stream_destroy;
  table.stream_synchronize = from.stream_synchronize;
  table.stream_query = from.stream_query;
  table.stream_wait = from.stream_wait_event;
  table.capture_begin = from.stream_begin_capture;
  table.capture_end = from.stream_end_capture;
  table.capture_status = from.stream_is_capturing;
  table.graph_nodes = from.graph_get_nodes;
  table.graph_destroy = from.graph_destroy;
  table.event_create = from.event_create;
  table.event_destroy = from.event_destroy;
  table.event_record = from.event_record;
  table.event_query = from.event_query;
  table.event_synchronize = from.event_synchronize;
  table.event_elapsed = from.event_elapsed_time;
  table.memory_info = from.mem_get_info;
  return table;
}

/// Fills `backend` and `table` of an opened library. `load()` makes the first calls and counts the
/// devices; `fill()` and `name_of()` are the vendor's.
template <typename Opened>
void open(Opened& opened, const Vendor& vendor) {
  const Library& library = opened.library;
  Backend& backend = opened.backend;
  if (!library) {
    backend.state = library.found() ? State::Failed : State::NoLibrary;
    backend.detail = library.error();
    return;
  }
  FirstCalls first = opened.load();
  if (!first.missing.empty()) {
    backend.state = State::Failed;
    backend.detail = library.path() + " has no " + first.missing + ": " + vendor.too_old;
    return;
  }
  fill(opened.table, opened.api);
  if (first.code == 0 && backend.count == 0) first.code = no_device;
  backend.state = vendor.state_of(first.code, access_to(vendor.node));
  if (backend.state == State::Ok) {
    backend.table = &opened.table;
    return;
  }
  backend.count = 0;
  backend.detail = line(first.called, name_of(opened.api, first.code), first.code);
  if (backend.state == State::NoPermission) {
    backend.detail += std::string("; this user may not open ") + vendor.node;
  }
}

}  // namespace dlbench::device
