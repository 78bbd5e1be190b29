#include "worker/base/frames.hpp"

#include <array>
#include <utility>

// CPython 3.10 passes another kind of frame. Without the GIL, threads would enter functions
// concurrently.
#if PY_VERSION_HEX >= 0x030B0000 && !defined(Py_GIL_DISABLED)
#define DLBENCH_NAMES_FRAMES
#endif

namespace dlbench::worker {

#ifdef DLBENCH_NAMES_FRAMES

namespace {

using Run = _PyFrameEvalFunction;

struct Node {
  PyCodeObject* code;  // owned by a reference taken when it was first seen
  int parent;
};

std::vector<Node> nodes;
int current = -1;
PyThreadState* watched = nullptr;
Run evaluate_frame = nullptr;

}  // namespace

// One function for each node. The index in the first asm statement prevents the compiler from
// merging the functions, and the statement after the call prevents a tail call.
template <int index>
__attribute__((visibility("default"), noinline)) PyObject* dlbench_frame(
    PyThreadState* state, struct _PyInterpreterFrame* frame, int thrown) {
  asm volatile("# frame %c0" : : "i"(index));
  PyObject* result = evaluate_frame(state, frame, thrown);
  asm volatile("" : "+r"(result));
  return result;
}

namespace {

template <int... index>
constexpr std::array<Run, sizeof...(index)> runners(std::integer_sequence<int, index...> /*all*/) {
  return {&dlbench_frame<index>...};
}

constexpr auto kRunners = runners(std::make_integer_sequence<int, Frames::kMost>());

#if PY_VERSION_HEX >= 0x030C0000
PyCodeObject* code_of(struct _PyInterpreterFrame* frame) {
  PyObject* code = PyUnstable_InterpreterFrame_GetCode(frame);
  Py_DECREF(code);  // the frame holds another
  return reinterpret_cast<PyCodeObject*>(code);
}
#else
// CPython 3.11 has no function for this, so read the head of its struct _PyInterpreterFrame.
struct Head {
  void *function, *globals, *builtins, *locals;
  PyCodeObject* code;
};

PyCodeObject* code_of(struct _PyInterpreterFrame* frame) {
  return reinterpret_cast<const Head*>(frame)->code;
}
#endif

int node_of(PyCodeObject* code) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].code == code && nodes[i].parent == current) return static_cast<int>(i);
  }
  if (nodes.size() == Frames::kMost) return -1;
  Py_INCREF(code);
  nodes.push_back({code, current});
  return static_cast<int>(nodes.size()) - 1;
}

PyObject* named(PyThreadState* state, struct _PyInterpreterFrame* frame, int thrown) {
  const int node = state == watched ? node_of(code_of(frame)) : -1;
  if (node < 0) return evaluate_frame(state, frame, thrown);
  const int caller = std::exchange(current, node);
  PyObject* result = kRunners[static_cast<std::size_t>(node)](state, frame, thrown);
  current = caller;
  return result;
}

std::string attribute_text(PyCodeObject* code, const char* name) {
  return text_of(checked(PyObject_GetAttrString(reinterpret_cast<PyObject*>(code), name)).get());
}

}  // namespace

Frames::Frames() {
  watched = PyThreadState_Get();
  current = -1;
  evaluate_frame = _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get());
  _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), &named);
}

Frames::~Frames() {
  _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), evaluate_frame);
  for (const Node& node : nodes) Py_DECREF(node.code);
  nodes.clear();
}

std::vector<FrameNode> Frames::observed() {
  std::vector<FrameNode> all;
  for (const Node& node : nodes) {
    all.push_back({node.parent, attribute_text(node.code, "co_qualname"),
                   attribute_text(node.code, "co_filename")});
  }
  return all;
}

#else

Frames::Frames() {
  throw Failure{Outcome::refused, "",
                "functions cannot be named: this needs CPython 3.11 or newer, with the GIL"};
}

Frames::~Frames() = default;

std::vector<FrameNode> Frames::observed() {
  return {};
}

#endif

}  // namespace dlbench::worker
