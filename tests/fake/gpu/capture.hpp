#pragma once

#include <cstddef>
#include <set>
#include <thread>
#include <vector>

#include "calls.hpp"

/// Stream capture, with the rules of the CUDA Programming Guide, "Creating a Graph Using Stream
/// Capture" (its sections "Cross-stream Dependencies and Events", "Prohibited and Unhandled
/// Operations" and "Invalidation"), and of cuda.h at cuStreamBeginCapture and
/// cuThreadExchangeStreamCaptureMode. HIP has the same modes and numbers.
namespace dlbench::fake {

/// Named as in cuda.h, without CUDA_ERROR_.
inline constexpr Code illegal_state = 401;
inline constexpr Code stream_capture_unsupported = 900;
inline constexpr Code stream_capture_invalidated = 901;
inline constexpr Code stream_capture_merge = 902;
inline constexpr Code stream_capture_unmatched = 903;
inline constexpr Code stream_capture_unjoined = 904;
inline constexpr Code stream_capture_isolation = 905;
inline constexpr Code stream_capture_implicit = 906;
inline constexpr Code captured_event = 907;
inline constexpr Code stream_capture_wrong_thread = 908;

/// CU_STREAM_CAPTURE_MODE_*.
enum class CaptureMode { Global, ThreadLocal, Relaxed };

/// Nodes of a graph: what the next node of a stream, or of a wait for an event, comes after.
using Nodes = std::set<std::size_t>;

/// A graph that is being captured from one stream, and from those that waited for its events.
struct Capture {
  CaptureMode mode = CaptureMode::Global;
  std::thread::id thread;
  const void* origin = nullptr;  ///< the stream that it began on
  bool is_invalidated = false;
  std::vector<Nodes> edges;  ///< by node: the nodes that it comes after

  /// Adds a node behind others, and makes it the last one.
  void add(Nodes& last) {
    edges.push_back(last);
    last = {edges.size() - 1};
  }

  /// Does every node come before, or is it among, the last ones of the origin?
  bool is_joined(const Nodes& last) const {
    Nodes seen = last;
    for (std::size_t i = edges.size(); i-- > 0;) {
      if (!seen.contains(i)) return false;
      seen.insert(edges[i].begin(), edges[i].end());
    }
    return true;
  }

  /// Is a thread prohibited from calls such as cuMemAlloc, which a graph does not repeat?
  bool prohibits(std::thread::id caller) const {
    return caller == thread ? mode != CaptureMode::Relaxed : mode == CaptureMode::Global;
  }
};

}  // namespace dlbench::fake
