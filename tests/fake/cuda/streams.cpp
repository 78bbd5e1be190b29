#include "cuda/context.hpp"
#include "cuda/entries.hpp"

namespace dlbench::fake::cuda {

namespace {

device::sim::Device& sim() {
  return device::sim::Device::instance();
}

Code create_with_priority(Stream* made, unsigned flags, int) {
  return device::sim::table().stream_create(made, flags);
}

Code get_flags(Stream stream, unsigned* flags) {
  *flags = sim().at(stream).blocking() ? 0 : device::non_blocking;
  return 0;
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
  return device::sim::table().event_record(event, stream);
}

Code launch_host(Stream stream, void (*function)(void*), void* argument) {
  sim().push(stream, [=] { function(argument); });
  return 0;
}

}  // namespace

std::vector<Entry> stream_entries() {
  return {
      entry<"cuStreamCreate", &Table::stream_create>(),
      entry<"cuStreamCreateWithPriority", create_with_priority>(),
      entry<"cuStreamDestroy", &Table::stream_destroy, Needs::Init>(),
      entry<"cuStreamSynchronize", &Table::stream_synchronize>(),
      entry<"cuStreamQuery", &Table::stream_query>(),
      entry<"cuStreamWaitEvent", &Table::stream_wait>(),
      entry<"cuStreamGetFlags", get_flags>(),
      entry<"cuStreamGetPriority", get_priority>(),
      entry<"cuStreamGetCtx", get_context>(),
      entry<"cuStreamGetId", get_id>(),
      entry<"cuStreamGetDevice", get_device>(),
      entry<"cuStreamIsCapturing", is_capturing>(),
      entry<"cuEventCreate", &Table::event_create>(),
      entry<"cuEventDestroy", &Table::event_destroy, Needs::Init>(),
      entry<"cuEventRecord", &Table::event_record>(),
      entry<"cuEventRecordWithFlags", record_with_flags>(),
      entry<"cuEventQuery", &Table::event_query>(),
      entry<"cuEventSynchronize", &Table::event_synchronize>(),
      entry<"cuEventElapsedTime", &Table::event_elapsed>(),
      entry<"cuLaunchHostFunc", launch_host>(),
  };
}

}  // namespace dlbench::fake::cuda
