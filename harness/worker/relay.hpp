#pragma once

#include "worker/py.hpp"
#include "worker/replay.hpp"
#include "worker/tap.hpp"

namespace dlbench::worker {

/// Which protocols an object shows, as bits.
using Shown = unsigned;
inline constexpr Shown kShowsDlpack = 1;
inline constexpr Shown kShowsDlpackC = 2;
inline constexpr Shown kShowsBuffer = 4;
inline constexpr Shown kShowsInterface = 8;
inline constexpr Shown kShowsStruct = 16;
inline constexpr Shown kShowsArray = 32;
inline constexpr Shown kShowsCuda = 64;
/// `__dlpack__` as it was before version 1.0: it knows no argument but `stream`.
inline constexpr Shown kShowsLegacy = 128;

/// What an object offers a consumer. A type's C exchange API counts under either published name.
Shown shown_by(PyObject* x);

/// Does an object that shows so much offer that protocol? The consumer decides which struct it is.
bool offers(Shown shown, const std::string& protocol);

/// The bit of a protocol's name; 0 for `convert`, which is no protocol of its own.
Shown shown_for(const std::string& protocol);

/// The protocols of a mask, in the order in which they are printed.
std::vector<std::string> protocols_in(Shown shown);

/// An object that stands for x before a consumer, shows exactly those protocols, and hands every
/// request on to x.
Ref make_relay(PyObject* x, Shown shown);

/// A relay that also notes in a tap what is asked of it. At the end of its scope it forgets the
/// tap, since a consumer may keep the object and ask it again.
class TappedRelay {
 public:
  TappedRelay(PyObject* x, Shown shown, Tap& tap);
  TappedRelay(const TappedRelay&) = delete;
  TappedRelay& operator=(const TappedRelay&) = delete;
  ~TappedRelay();
  PyObject* get() const { return relay_.get(); }

 private:
  Ref relay_;
};

/// A relay that hands out what a replay keeps, in the place of x; until the end of its scope.
class ReplayingRelay {
 public:
  ReplayingRelay(PyObject* x, Shown shown, Replay& replay);
  ReplayingRelay(const ReplayingRelay&) = delete;
  ReplayingRelay& operator=(const ReplayingRelay&) = delete;
  ~ReplayingRelay();
  PyObject* get() const { return relay_.get(); }

 private:
  Ref relay_;
};

}  // namespace dlbench::worker
