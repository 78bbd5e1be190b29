#pragma once

#include <array>
#include <string>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// The protocols that an object offers, as bits.
using Shown = unsigned;
inline constexpr Shown kShowsDlpack = 1;
inline constexpr Shown kShowsDlpackC = 2;
inline constexpr Shown kShowsBuffer = 4;
inline constexpr Shown kShowsInterface = 8;
inline constexpr Shown kShowsStruct = 16;
inline constexpr Shown kShowsArray = 32;
inline constexpr Shown kShowsCuda = 64;
/// `__dlpack__` before version 1.0: it accepts no argument but `stream`.
inline constexpr Shown kShowsLegacy = 128;

/// The protocols that read a property.
struct Property {
  const char* name;
  const char* protocol;
  Shown shown;
};
inline constexpr std::array<Property, 3> kProperties{
    {{"__array_interface__", "array_interface", kShowsInterface},
     {"__array_struct__", "array_struct", kShowsStruct},
     {"__cuda_array_interface__", "cuda_array_interface", kShowsCuda}}};

/// The protocols that an object offers. A type's C exchange API counts under either of its names.
Shown shown_by(PyObject* x);

/// Does an object with this mask offer the protocol? Both structs of DLPack need only `dlpack`,
/// because the consumer chooses the struct.
bool offers(Shown shown, const std::string& protocol);

/// The bit of a protocol's name; 0 for `convert`, which is not a protocol itself.
Shown shown_for(const std::string& protocol);

/// The protocols of a mask, in the order in which they are printed.
std::vector<std::string> protocols_in(Shown shown);

}  // namespace dlbench::worker
