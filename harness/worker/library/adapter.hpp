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
  /// What it changed for all others in this process, by kind: dlbench/import_effects.py.
  std::map<std::string, std::vector<std::string>> effects;
  double seconds = 0;  ///< of its file, without the observation of the effects
};

/// One library in this worker: its adapter files, as far as they are loaded.
struct Library {
  Ref producer;  ///< module, or empty
  Ref consumer;
  std::vector<std::string> devices;  ///< from the adapter's `devices`; empty: it has none

  bool has_device(const std::string& device) const;

  /// A function that either file may define (`ready`, `memory`, `address`, `values`, `extras`), or
  /// an empty Ref. The consumer's file has priority.
  Ref function(const char* name) const;
};

/// The result of a library's `NAME(device)`, such as `stream` and `new_stream`. Empty where its
/// adapter has no such function, or where that returns None. Throws Failure.
Ref asked_for_device(const Library& library, const char* name, const std::string& device);

/// Loads adapters and makes cases through the package's Python code.
class Adapters {
 public:
  /// Throws Failure import-failed, or no-device where the library finds none.
  Loaded load(const std::string& role, const std::string& name, const std::string& path);

  /// Throws Failure where the library was not loaded here in that role: `&Library::producer`.
  const Library& at(const std::string& name, Ref Library::*role) const;

 private:
  std::map<std::string, Library> libraries_;
};

}  // namespace dlbench::worker
