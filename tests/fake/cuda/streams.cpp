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

Code get_context(Stream, Context** context) {
  *context = current();
  return 0;
}

Code get_id(Stream stream, unsigned long long* id) {
  *id = reinterpret_cast<unsigned long long>(stream);
  return 0;
}

Code get_device(Stream, int* device) {
  *device = current()->device;
  return 0;
}

Code is_capturing(Stream, int* status) {
  *status = 0;
  return 0;
}

Code record_with_flags(Event event, Stream stream, unsigned) {
  return event_record(event, stream);
}

Code launch_host(Stream stream, void (*function)(void*), void* argument) {
  return submit(stream, [=] { function(argument); });
}

}  // namespace

std::vector<Entry> stream_entries() {
  return {
      entry<"cuStreamCreate", stream_create>(),
      entry<"cuStreamCreateWithPriority", create_with_priority>(),
      entry<"cuStreamDestroy", stream_destroy, Needs::Init>(),
      entry<"cuStreamSynchronize", stream_synchronize>(),
      entry<"cuStreamQuery", stream_query>(),
      entry<"cuStreamWaitEvent", stream_wait>(),
      entry<"cuStreamGetFlags", stream_flags>(),
      entry<"cuStreamGetPriority", get_priority>(),
      entry<"cuStreamGetCtx", get_context>(),
      entry<"cuStreamGetId", get_id>(),
      entry<"cuStreamGetDevice", get_device>(),
      entry<"cuStreamIsCapturing", is_capturing>(),
      entry<"cuEventCreate", event_create>(),
      entry<"cuEventDestroy", event_destroy, Needs::Init>(),
      entry<"cuEventRecord", event_record>(),
      entry<"cuEventRecordWithFlags", record_with_flags>(),
      entry<"cuEventQuery", event_query>(),
      entry<"cuEventSynchronize", event_synchronize>(),
      entry<"cuEventElapsedTime", event_elapsed>(),
      entry<"cuLaunchHostFunc", launch_host>(),
  };
}

}  // namespace dlbench::fake::cuda
