#pragma once

#include <string>
#include <vector>

#include "model/warning.hpp"

namespace dlbench::testing {

inline std::vector<std::string> texts_of(const Warnings& warnings) {
  std::vector<std::string> texts;
  for (const Warning& warning : warnings) texts.push_back(warning.text);
  return texts;
}

}  // namespace dlbench::testing
