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
