#include "worker/library/adapter.hpp"

#include "model/contains.hpp"
#include "model/places.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {

namespace {

std::vector<std::string> texts_of(PyObject* list) {
  std::vector<std::string> texts;
  for (Py_ssize_t i = 0; i < PyList_Size(list); ++i) {
    texts.push_back(text_of(PyList_GetItem(list, i)));
  }
  return texts;
}

// If a library's `devices` raises, its exception is the reason why it has no devices.
std::vector<std::string> devices_of(const std::string& name, PyObject* loading, PyObject* module) {
  std::vector<std::string> devices;
  try {
    devices = texts_of(checked(PyObject_CallMethod(loading, "devices", "O", module)).get());
  } catch (Failure& failure) {
    if (failure.outcome != Outcome::out_of_memory) failure.outcome = Outcome::no_device;
    throw;
  }
  if (devices.empty()) {
    throw Failure{Outcome::no_device, "", name + " finds no device on this machine"};
  }
  return devices;
}

}  // namespace

bool Library::has_device(const std::string& device) const {
  return devices.empty() || contains(devices, device) || contains(devices, kind_of_device(device));
}

Ref Library::function(const char* name) const {
  for (const Ref& module : {consumer, producer}) {
    if (!module) continue;
    Ref found = optional_attribute(module.get(), name);
    if (found && found.get() != Py_None) return found;
  }
  return {};
}

Ref call_for_device(const Library& library, const char* name, const std::string& device) {
  const Ref function = library.function(name);
  if (!function) return {};
  Ref result = checked(PyObject_CallFunction(function.get(), "s", device.c_str()));
  return result.get() == Py_None ? Ref{} : std::move(result);
}

Loaded Adapters::load(const std::string& role, const std::string& name, const std::string& path) {
  try {
    const Ref loading = checked(PyImport_ImportModule("dlbench.loading"));
    const Ref found = checked(PyObject_CallMethod(loading.get(), "load_and_observe", "sss",
                                                  role.c_str(), name.c_str(), path.c_str()));
    Ref module = Ref::borrow(PyTuple_GetItem(found.get(), 0));
    Loaded loaded;
    loaded.seconds = PyFloat_AsDouble(PyTuple_GetItem(found.get(), 2));
    PyObject *kind = nullptr, *names = nullptr;
    for (Py_ssize_t at = 0;
         PyDict_Next(PyTuple_GetItem(found.get(), 1), &at, &kind, &names) != 0;) {
      loaded.effects[text_of(kind)] = texts_of(names);
    }
    loaded.version = text_of(
        checked(PyObject_CallMethod(loading.get(), "version", "sO", name.c_str(), module.get()))
            .get());
    loaded.devices = devices_of(name, loading.get(), module.get());
    // Some libraries load their runtime only when they list their devices.
    loaded.runtimes = runtimes_by_kind();
    // dlbench.case imports NumPy. It is imported only now, because a library may behave differently
    // after NumPy.
    checked(PyImport_ImportModule("dlbench.case"));
    Library& library = libraries_[name];
    // The default of a file without `devices` does not override the other file.
    if (PyObject_HasAttrString(module.get(), "devices") ||
        PyObject_HasAttrString(module.get(), "DEVICES")) {
      library.devices = loaded.devices;
    }
    (role == "producer" ? library.producer : library.consumer) = std::move(module);
    return loaded;
  } catch (Failure& failure) {
    if (failure.outcome != Outcome::out_of_memory && failure.outcome != Outcome::no_device) {
      failure.outcome = Outcome::import_failed;
    }
    throw;
  }
}

const Library& Adapters::at(const std::string& name, Ref Library::*role) const {
  const auto found = libraries_.find(name);
  if (found == libraries_.end() || !(found->second.*role)) {
    throw Failure{Outcome::import_failed, "", name + " was not loaded in this worker"};
  }
  return found->second;
}

}  // namespace dlbench::worker
