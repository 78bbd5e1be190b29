#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/outcome.hpp"

namespace dlbench {

/// Why a cell has no number. A worker throws it and sends it over the wire; the supervisor records
/// it. Programs read the outcome, the code and the data; the reason is for people.
struct Failure {
  Outcome outcome = Outcome::not_run;
  std::string exception{};  ///< the type's name; empty where no exception was raised
  std::string reason{};     ///< one line
  std::string code{};       ///< of codes.hpp; empty: no refinement of the outcome
  std::map<std::string, std::string> data{};  ///< values for the names in the code's meaning
  std::string signal{};                       ///< "SIGSEGV"
  std::string stderr_tail{};                  ///< the last lines of the worker's stderr
  std::vector<std::string> imports{};  ///< two libraries in the order in which the worker imported
                                       ///< them; empty where it imported fewer
};

}  // namespace dlbench
