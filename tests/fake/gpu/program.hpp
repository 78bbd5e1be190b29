#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/device.hpp"

namespace dlbench::fake {

/// A kernel in PTX that one thread runs from its first line to its last: it computes with integers
/// of 64 bits, and loads and stores them. That is enough for the kernels of `call`.
class Program {
 public:
  /// The kernel of a module's text with the parameters of a launch; nothing where it is not such a
  /// kernel, or has parameters of another size.
  static std::optional<Program> of(const std::string& text, const std::string& kernel,
                                   void** parameters);

  /// False where it loads from or stores to what the device does not reach.
  bool run() const;

 private:
  std::vector<std::vector<std::string>> steps_;  // each the instruction and its operands
  std::map<std::string, std::uint64_t> parameters_;
};

}  // namespace dlbench::fake
