#include "worker/proxy/proxied_api.hpp"

#include "worker/library/exchange_api.hpp"
#include "worker/proxy/borrowed_tensors.hpp"

namespace dlbench::worker {
namespace {

// Functions of the table without an object argument (allocator, stream, new object) call the table
// of the array that was proxied last.
const DLPackExchangeAPI* last_proxied = nullptr;

const DLPackExchangeAPI* api_behind(const ProxiedProducer& producer) {
  const DLPackExchangeAPI* api = nullptr;
  try {
    api = exchange_api_of(Py_TYPE(producer.x));
  } catch (const Failure& failure) {
    // The caller is C code, so no exception may be thrown.
    PyErr_SetString(PyExc_RuntimeError, failure.reason.c_str());
    return nullptr;
  }
  if (api == nullptr) {
    PyErr_Format(PyExc_TypeError, "%s has no C exchange API", Py_TYPE(producer.x)->tp_name);
  } else {
    last_proxied = api;
  }
  return api;
}

void note(const ProxiedProducer& producer, int status, Request::How how, const char* call) {
  if (producer.recorder == nullptr) return;
  status == 0 ? producer.recorder->answered("dlpack_c", make_request(how, call))
              : producer.recorder->raised(make_request(how, call));
}

int lacks(const char* function) {
  PyErr_Format(PyExc_BufferError, "the producer's %s is NULL", function);
  return -1;
}

std::uintptr_t first_element(const DLTensor& tensor) {
  return reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.byte_offset;
}

int managed_from_proxy(void* object, DLManagedTensorVersioned** out) {
  const ProxiedProducer producer = proxied_producer(object);
  if (producer.replay != nullptr) return producer.replay->replay_export(out);
  const DLPackExchangeAPI* api = api_behind(producer);
  if (api == nullptr) return -1;
  const Producing producing(producer.recorder);
  const int status = managed_from(*api, producer.x, out);
  note(producer, status, Request::How::managed, "managed_tensor_from_py_object_no_sync()");
  if (status == 0 && producer.recorder != nullptr) {
    producer.recorder->set_facts(facts_of(**out));
    producer.recorder->set_address(first_element((*out)->dl_tensor));
    if (producer.recorder->borrowed_tensors() != nullptr)
      producer.recorder->borrowed_tensors()->pass_on(*out);
  }
  return status;
}

int borrowed_from_proxy(void* object, DLTensor* out) {
  const ProxiedProducer producer = proxied_producer(object);
  if (producer.replay != nullptr) return producer.replay->replay_export(out);
  const DLPackExchangeAPI* api = api_behind(producer);
  if (api == nullptr) return -1;
  if (api->dltensor_from_py_object_no_sync == nullptr) {
    PyErr_SetString(PyExc_BufferError, "the producer exports no borrowed view");
    return -1;
  }
  const Producing producing(producer.recorder);
  const int status = api->dltensor_from_py_object_no_sync(producer.x, out);
  note(producer, status, Request::How::borrowed, "dltensor_from_py_object_no_sync()");
  if (status == 0 && producer.recorder != nullptr)
    producer.recorder->set_address(first_element(*out));
  return status;
}

int allocate(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
             void (*set_error)(void*, const char*, const char*)) {
  if (last_proxied == nullptr) {
    set_error(context, "RuntimeError", "no array was proxied yet");
    return -1;
  }
  if (last_proxied->managed_tensor_allocator == nullptr) {
    set_error(context, "BufferError", "the producer's managed_tensor_allocator is NULL");
    return -1;
  }
  return last_proxied->managed_tensor_allocator(prototype, out, context, set_error);
}

int object_from_managed(DLManagedTensorVersioned* tensor, void** out) {
  if (last_proxied == nullptr) {
    PyErr_SetString(PyExc_RuntimeError, "no array was proxied yet");
    return -1;
  }
  if (last_proxied->managed_tensor_to_py_object_no_sync == nullptr) {
    return lacks("managed_tensor_to_py_object_no_sync");
  }
  return last_proxied->managed_tensor_to_py_object_no_sync(tensor, out);
}

int current_stream(DLDeviceType type, int32_t id, void** out) {
  *out = nullptr;
  if (last_proxied == nullptr) return 0;
  if (last_proxied->current_work_stream == nullptr) return lacks("current_work_stream");
  return last_proxied->current_work_stream(type, id, out);
}

}  // namespace

PyObject* proxied_exchange_api() {
  static DLPackExchangeAPI table{{{DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION}, nullptr},
                                 allocate,
                                 managed_from_proxy,
                                 object_from_managed,
                                 borrowed_from_proxy,
                                 current_stream};
  return PyCapsule_New(&table, kExchangeApiCapsule, nullptr);
}

}  // namespace dlbench::worker
