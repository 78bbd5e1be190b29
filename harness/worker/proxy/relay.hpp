#pragma once

#include "worker/base/py.hpp"
#include "worker/library/shown.hpp"
#include "worker/proxy/replay.hpp"
#include "worker/proxy/tap.hpp"

namespace dlbench::worker {

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
