#pragma once

#include <string>
#include <vector>

#include "worker/read.hpp"

namespace dlbench::worker {

class Loans;

/// What a tapped relay saw the consumer ask for.
class Tap {
 public:
  void answered(std::string protocol, std::string call);
  void raised(std::string call);  ///< reads the type of the pending exception, leaves it pending
  void handed_over(CapsuleFacts facts) { facts_ = std::move(facts); }

  /// Has what the producer lends counted there, from now on.
  void watch(Loans* loans) { loans_ = loans; }
  Loans* loans() const { return loans_; }  ///< null where nobody counts

  /// The protocol of the last answered request that carries data, or empty.
  const std::string& used() const { return used_; }
  const std::vector<std::string>& calls() const { return calls_; }
  const CapsuleFacts& facts() const { return facts_; }

 private:
  std::string used_;
  std::vector<std::string> calls_;
  CapsuleFacts facts_;
  Loans* loans_ = nullptr;
};

/// "__dlpack__(max_version=(1,0))" from a vectorcall's arguments.
std::string spell_call(const char* name, PyObject* const* arguments, Py_ssize_t positional,
                       PyObject* keyword_names);

}  // namespace dlbench::worker
