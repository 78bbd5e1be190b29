#include "hip/runtime.hpp"

using namespace dlbench::fake;
using hip::Event;
using hip::forward;
using hip::Stream;

DLBENCH_FAKE_EXPORT Code hipStreamCreateWithFlags(Stream* made, unsigned flags) {
  return forward(__func__, stream_create, made, flags);
}

DLBENCH_FAKE_EXPORT Code hipStreamDestroy(Stream stream) {
  return forward(__func__, stream_destroy, stream);
}

DLBENCH_FAKE_EXPORT Code hipStreamSynchronize(Stream stream) {
  return forward(__func__, stream_synchronize, stream);
}

DLBENCH_FAKE_EXPORT Code hipStreamQuery(Stream stream) {
  return forward(__func__, stream_query, stream);
}

DLBENCH_FAKE_EXPORT Code hipStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  return forward(__func__, stream_wait, stream, event, flags);
}

DLBENCH_FAKE_EXPORT Code hipStreamBeginCapture(Stream stream, CaptureMode mode) {
  return forward(__func__, capture_begin, stream, mode);
}

DLBENCH_FAKE_EXPORT Code hipStreamEndCapture(Stream stream, void** graph) {
  return forward(__func__, capture_end, stream, graph);
}

DLBENCH_FAKE_EXPORT Code hipStreamIsCapturing(Stream stream, int* status) {
  return forward(__func__, capture_status, stream, status);
}

DLBENCH_FAKE_EXPORT Code hipGraphGetNodes(void* graph, void** nodes, std::size_t* count) {
  return forward(__func__, graph_nodes, graph, nodes, count);
}

DLBENCH_FAKE_EXPORT Code hipGraphDestroy(void* graph) {
  return forward(__func__, graph_destroy, graph);
}

DLBENCH_FAKE_EXPORT Code hipEventCreateWithFlags(Event* made, unsigned flags) {
  return forward(__func__, event_create, made, flags);
}

DLBENCH_FAKE_EXPORT Code hipEventDestroy(Event event) {
  return forward(__func__, event_destroy, event);
}

DLBENCH_FAKE_EXPORT Code hipEventRecord(Event event, Stream stream) {
  return forward(__func__, event_record, event, stream);
}

DLBENCH_FAKE_EXPORT Code hipEventQuery(Event event) {
  return forward(__func__, event_query, event);
}

DLBENCH_FAKE_EXPORT Code hipEventSynchronize(Event event) {
  return forward(__func__, event_synchronize, event);
}

DLBENCH_FAKE_EXPORT Code hipEventElapsedTime(float* milliseconds, Event begin, Event end) {
  return forward(__func__, event_elapsed, milliseconds, begin, end);
}

DLBENCH_FAKE_EXPORT Code hipLaunchHostFunc(Stream stream, void (*function)(void*), void* argument) {
  return hip::run(__func__, [&] {
    return submit(stream, [=] {
      function(argument);
      return 0;
    });
  });
}
