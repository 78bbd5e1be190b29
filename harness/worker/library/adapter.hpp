#pragma once

#include <map>
#include <string>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// The result of loading one adapter file.
struct Loaded {
  std::string version;
  std::vector<std::string> devices;
  /// Its effects on the whole process, by kind; see dlbench/import_effects.py.
  std::map<std::string, std::vector<std::string>> effects;
  /// The files of drivers and runtimes that the process has loaded by then, by kind of device.
  std::map<std::string, std::vector<std::string>> runtimes;
  double seconds = 0;  ///< to load the file, without the observation of effects
};

/// One library in this worker: the adapter files that are loaded.
struct Library {
  Ref producer;  ///< module, or empty
  Ref consumer;
  std::vector<std::string> devices;  ///< from the adapter's `devices`; empty without it

  bool has_device(const std::string& device) const;

  /// A function that either file may define (`ready`, `memory`, `address`, `values`, `extras`), or
  /// an empty Ref. The consumer's file takes precedence.
  Ref function(const char* name) const;
};

/// Calls a library's `NAME(device)`, such as `stream` and `new_stream`. Returns an empty Ref if the
/// adapter has no such function or if it returns None. Throws Failure.
Ref call_for_device(const Library& library, const char* name, const std::string& device);

/// Loads adapters and makes cases through the package's Python code.
class Adapters {
 public:
  /// Throws Failure import-failed, or no-device if the library finds no device.
  Loaded load(const std::string& role, const std::string& name, const std::string& path);

  /// Throws Failure if the library is not loaded in this role (`&Library::producer` or `consumer`).
  const Library& at(const std::string& name, Ref Library::*role) const;

 private:
  std::map<std::string, Library> libraries_;
};

}  // namespace dlbench::worker
