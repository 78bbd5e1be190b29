#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/table.hpp"

/// Programs of a device made of threads: the text is kept, and one kernel is known by its name.
namespace dlbench::fake {

struct Function {
  std::string name;
};

struct Module {
  std::string text;
  std::vector<std::unique_ptr<Function>> functions;
};

/// nullptr for what is no text (an ELF file, a fat binary).
Module* load(const void* image);
/// False for what is not loaded.
bool unload(Module*);

/// nullptr where the text declares no such kernel, in PTX or in HIP. It lives with its module.
Function* find(Module&, const std::string& kernel);

/// Runs the delay kernel with the parameters of its declaration; an error for any other.
device::Code launch(const Function&, device::Stream, void** parameters);

}  // namespace dlbench::fake
