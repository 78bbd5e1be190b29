#include "cuda/entries.hpp"

namespace dlbench::fake::cuda {

namespace {

Code create_with_priority(Stream* made, unsigned flags, int) {
  return stream_create(made, flags);
}

Code get_priority(Stream, int* priority) {
  *priority = 0;
  return 0;
}

Code get_context(Stream stream, Context** context) {
  *context = context_of(stream);
  return *context != nullptr ? 0 : vendor.destroyed;
}

/// Since CUDA 12.5; no stream here has a green context.
Code get_contexts(Stream stream, Context** context, void** green) {
  *green = nullptr;
  return get_context(stream, context);
}

Code get_id(Stream stream, unsigned long long* id) {
  *id = reinterpret_cast<unsigned long long>(stream);
  return 0;
}

Code get_device(Stream stream, int* device) {
  const Context* const context = context_of(stream);
  if (context == nullptr) return vendor.destroyed;
  *device = context->device;
  return 0;
}

/// CUDA 10.0; 10.1 added the mode.
Code begin_global_capture(Stream stream) {
  return capture_begin(stream, CaptureMode::Global);
}

Code record_with_flags(Event event, Stream stream, unsigned) {
  return event_record(event, stream);
}

Code launch_host(Stream stream, void (*function)(void*), void* argument) {
  return submit(stream, [=] {
    function(argument);
    return 0;
  });
}

}  // namespace

std::vector<Entry> stream_entries() {
  return {
      entry<"cuStreamCreate", stream_create>(2000),
      entry<"cuStreamCreateWithPriority", create_with_priority>(5050),
      entry<"cuStreamDestroy", stream_destroy, Needs::Init>(4000),
      entry<"cuStreamSynchronize", stream_synchronize>(2000),
      entry<"cuStreamQuery", stream_query>(2000),
      entry<"cuStreamWaitEvent", stream_wait>(3020),
      entry<"cuStreamGetFlags", stream_flags>(5050),
      entry<"cuStreamGetPriority", get_priority>(5050),
      entry<"cuStreamGetCtx", get_context>(9020),
      entry<"cuStreamGetCtx", get_contexts>(12050),
      entry<"cuStreamGetId", get_id>(12000),
      entry<"cuStreamGetDevice", get_device>(12080),
      entry<"cuStreamIsCapturing", capture_status>(10000),
      entry<"cuStreamBeginCapture", begin_global_capture>(10000),
      entry<"cuStreamBeginCapture", capture_begin>(10010),
      entry<"cuStreamEndCapture", capture_end>(10000),
      entry<"cuGraphGetNodes", graph_nodes, Needs::Init>(10000),
      entry<"cuGraphDestroy", graph_destroy, Needs::Init>(10000),
      entry<"cuEventCreate", event_create>(2000),
      entry<"cuEventDestroy", event_destroy, Needs::Init>(4000),
      entry<"cuEventRecord", event_record>(2000),
      entry<"cuEventRecordWithFlags", record_with_flags>(11010),
      entry<"cuEventQuery", event_query>(2000),
      entry<"cuEventSynchronize", event_synchronize>(2000),
      entry<"cuEventElapsedTime", event_elapsed>(2000),
      entry<"cuLaunchHostFunc", launch_host>(10000),
  };
}

}  // namespace dlbench::fake::cuda
