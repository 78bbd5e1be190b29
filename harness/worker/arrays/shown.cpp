#include "worker/arrays/shown.hpp"

#include "model/names.hpp"
#include "worker/library/exchange_api.hpp"

namespace dlbench::worker {

Shown shown_for(const std::string& protocol) {
  if (protocol == Protocol::dlpack || protocol == Protocol::dlpack_versioned) return kShowsDlpack;
  if (protocol == Protocol::dlpack_legacy) return kShowsLegacy;
  if (protocol == Protocol::dlpack_c) return kShowsDlpack | kShowsDlpackC;
  if (protocol == Protocol::buffer) return kShowsBuffer;
  if (protocol == Protocol::array) return kShowsArray;
  for (const Property& property : kProperties) {
    if (protocol == property.protocol) return property.shown;
  }
  return 0;
}

bool offers(Shown shown, const std::string& protocol) {
  const Shown wanted = protocol == Protocol::dlpack_legacy ? kShowsDlpack : shown_for(protocol);
  return (shown & wanted) == wanted;
}

std::vector<std::string> protocols_in(Shown shown) {
  std::vector<std::string> names;
  for (const std::string_view protocol : kProtocols) {
    // The two structs are `dlpack` with other arguments, and objects do not offer `convert`.
    if (protocol == Protocol::dlpack_legacy || protocol == Protocol::dlpack_versioned) continue;
    const Shown bits = shown_for(std::string(protocol));
    if (bits != 0 && (shown & bits) == bits) names.emplace_back(protocol);
  }
  return names;
}

Shown shown_by(PyObject* x) {
  Shown shown = 0;
  if (PyObject_HasAttrString(x, "__dlpack__")) shown |= kShowsDlpack;
  if (exchange_api_of(Py_TYPE(x)) != nullptr) shown |= kShowsDlpackC;
  if (PyObject_CheckBuffer(x)) shown |= kShowsBuffer;
  if (PyObject_HasAttrString(x, "__array__")) shown |= kShowsArray;
  for (const Property& property : kProperties) {
    if (PyObject_HasAttrString(x, property.name)) shown |= property.shown;
  }
  return shown;
}

}  // namespace dlbench::worker
