#pragma once

#include <optional>
#include <string>
#include <vector>

#include "supervisor/context.hpp"
#include "supervisor/imports/loads.hpp"

namespace dlbench::supervisor {

/// An adapter file that could not be imported.
struct FailedImport {
  std::string library, role;
  Failure failure;
  bool died = false;  ///< the worker died
};

/// Imports the libraries in this order in a new worker and returns the files that failed. Skips
/// files that are known to fail alone. Throws Stopped.
std::vector<FailedImport> try_imports(Context& context, const std::string& environment,
                                      const std::vector<std::string>& libraries);

/// Why an import failed in a worker with other libraries.
struct ImportFinding {
  /// `alone`: the import also fails alone. `again`: it works with all others when repeated.
  /// `order`: it works before `other`. `apart`: it fails with `other` in any order. `several`: it
  /// fails only with several others.
  enum class Kind { alone, again, order, apart, several };
  Kind kind = Kind::alone;
  std::vector<FailedImport> failures;  ///< of `alone`
  std::string other;                   ///< of `order` and `apart`
  Failure failure;                     ///< of `order` and `apart`: what happens after `other`
};

/// Finds the cause by bisection over the libraries that were imported before, with a new worker for
/// each step. Throws Stopped.
ImportFinding find_cause(Context& context, const std::string& environment,
                         std::vector<std::string> before, const std::string& suspect);

}  // namespace dlbench::supervisor
