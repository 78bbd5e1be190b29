#pragma once

#include "gpu/device.hpp"

/// Modules of the fake devices: the text is kept, and the delay kernel is known by its name.
/// Modules and functions are handles, and belong to a context.
namespace dlbench::fake {

inline constexpr Code no_binary_for_gpu = 209;
inline constexpr Code not_found = 500;
inline constexpr Code not_supported = 801;

/// `context`: nullptr for a library, whose kernels every context can launch. No binary for what is
/// no text (an ELF file, a fat binary).
Code load_module(void** made, const void* image, Context* context);
/// Its functions end with it: launching one of them is an invalid handle from then on.
Code unload_module(void* module);

/// Not found where the text declares no such kernel, in PTX or in HIP. It lives with its module.
Code find_function(void** made, void* module, const char* kernel);

/// Runs the delay kernel, or a Program, with the parameters of its declaration; an error for any
/// other, and for a stream of another context.
Code launch(void* function, Stream stream, void** parameters);

}  // namespace dlbench::fake
