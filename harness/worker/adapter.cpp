#include "worker/adapter.hpp"

namespace dlbench::worker {

Ref Library::function(const char* name) const {
  for (const Ref& module : {consumer, producer}) {
    if (!module) continue;
    Ref found = optional_attribute(module.get(), name);
    if (found && found.get() != Py_None) return found;
  }
  return {};
}

Loaded Adapters::load(const std::string& role, const std::string& name, const std::string& path) {
  try {
    const Ref loading = checked(PyImport_ImportModule("dlbench.loading"));
    Ref module = checked(PyObject_CallMethod(loading.get(), "load_adapter", "sss", role.c_str(),
                                             name.c_str(), path.c_str()));
    Loaded loaded;
    loaded.version = text_of(
        checked(PyObject_CallMethod(loading.get(), "version", "sO", name.c_str(), module.get()))
            .get());
    const Ref devices = checked(PyObject_CallMethod(loading.get(), "devices", "O", module.get()));
    for (Py_ssize_t i = 0; i < PyList_Size(devices.get()); ++i) {
      loaded.devices.push_back(text_of(PyList_GetItem(devices.get(), i)));
    }
    // Cases are NumPy arrays. Imported here and not before: a library may mind who came first.
    checked(PyImport_ImportModule("dlbench.case"));
    Library& library = libraries_[name];
    (role == "producer" ? library.producer : library.consumer) = std::move(module);
    return loaded;
  } catch (Failure& failure) {
    if (failure.outcome != Outcome::out_of_memory) failure.outcome = Outcome::import_failed;
    throw;
  }
}

const Library& Adapters::at(const std::string& name) const {
  const auto found = libraries_.find(name);
  if (found == libraries_.end()) {
    throw Failure{Outcome::import_failed, "", name + " was not loaded in this worker"};
  }
  return found->second;
}

}  // namespace dlbench::worker
