#include "worker/library/exchange_api.hpp"

#include <set>
#include <utility>

#include "exchange/api_table.hpp"
#include "exchange/guard/maps.hpp"

namespace dlbench::worker {
namespace {

const DLPackExchangeAPI* pointer_in(PyObject* published) {
  if (PyCapsule_IsValid(published, kExchangeApiCapsule)) {
    return static_cast<const DLPackExchangeAPI*>(
        PyCapsule_GetPointer(published, kExchangeApiCapsule));
  }
  if (PyLong_Check(published)) {
    const void* address = PyLong_AsVoidPtr(published);
    PyErr_Clear();
    return static_cast<const DLPackExchangeAPI*>(address);
  }
  return nullptr;
}

bool is_readable(std::uintptr_t address, std::size_t bytes) {
  // Reading /proc/self/maps is slow, so an address that was readable is not checked again. A
  // library that unmaps its table later can crash this worker.
  static std::set<std::pair<std::uintptr_t, std::size_t>> known;
  if (known.contains({address, bytes})) return true;
  if (!exchange::is_readable(address, bytes)) return false;
  known.emplace(address, bytes);
  return true;
}

exchange::FoundTable table_of(PyTypeObject* type) {
  exchange::FoundTable last;
  for (const char* name : {kExchangeApiName, "__c_dlpack_exchange_api__"}) {
    const Ref published = optional_attribute(reinterpret_cast<PyObject*>(type), name);
    if (!published) continue;
    const exchange::FoundTable found =
        exchange::find_table(pointer_in(published.get()), &is_readable);
    if (found.table != nullptr) return found;
    if (found.flaw != nullptr) last = found;
  }
  return last;
}

}  // namespace

const DLPackExchangeAPI* exchange_api_of(PyTypeObject* type) {
  return table_of(type).table;
}

std::string flaw_of_exchange_api(PyTypeObject* type) {
  const char* const flaw = table_of(type).flaw;
  return flaw == nullptr ? "" : flaw;
}

int managed_from(const DLPackExchangeAPI& api, PyObject* x, DLManagedTensorVersioned** out) {
  *out = nullptr;
  const int status = api.managed_tensor_from_py_object_no_sync(x, out);
  if (status != 0 || *out != nullptr) return status;
  PyErr_SetString(PyExc_BufferError,
                  "managed_tensor_from_py_object_no_sync returned 0 but set no tensor");
  return -1;
}

}  // namespace dlbench::worker
