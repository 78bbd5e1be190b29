#include "worker/proxy/recorder.hpp"

#include <utility>

#include "worker/arrays/described.hpp"

namespace dlbench::worker {
namespace {
// A limit, because a consumer may poll.
constexpr std::size_t kMostCalls = 32;
}  // namespace

void Recorder::keep(Request request, std::string call) {
  is_truncated_ = calls_.size() >= kMostCalls;
  if (is_truncated_) return;
  calls_.push_back(std::move(call));
  recording_.push_back(std::move(request));
}

void Recorder::answered(std::string protocol, Request request) {
  if (!protocol.empty()) {
    used_ = std::move(protocol);
    producer_failed_ = false;
  }
  std::string call = request.spelled;
  keep(std::move(request), std::move(call));
}

void Recorder::raised(Request request, bool ours) {
  producer_failed_ = !ours;
  std::string type = "an error";
  if (PyObject* pending = PyErr_Occurred()) {
    type = reinterpret_cast<PyTypeObject*>(pending)->tp_name;
    type.erase(0, type.rfind('.') + 1);
  }
  request.raised = true;
  request.ours = ours;
  std::string call = request.spelled + " -> " + type;
  keep(std::move(request), std::move(call));
}

std::uintptr_t address_in(PyObject* exported) try {
  if (is_dlpack_capsule(exported)) return view_of_capsule(exported).address;
  return view_of_description(exported).address;
} catch (const Failure&) {
  return 0;
} catch (const std::exception&) {
  return 0;
}

}  // namespace dlbench::worker
