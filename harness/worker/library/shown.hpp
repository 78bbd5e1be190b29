#pragma once

#include <array>
#include <string>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// Which protocols an object shows, as bits.
using Shown = unsigned;
inline constexpr Shown kShowsDlpack = 1;
inline constexpr Shown kShowsDlpackC = 2;
inline constexpr Shown kShowsBuffer = 4;
inline constexpr Shown kShowsInterface = 8;
inline constexpr Shown kShowsStruct = 16;
inline constexpr Shown kShowsArray = 32;
inline constexpr Shown kShowsCuda = 64;
/// `__dlpack__` as it was before version 1.0: it knows no argument but `stream`.
inline constexpr Shown kShowsLegacy = 128;

/// The protocols that are the reading of a property.
struct Property {
  const char* name;
  const char* protocol;
  Shown shown;
};
inline constexpr std::array<Property, 3> kProperties{
    {{"__array_interface__", "array_interface", kShowsInterface},
     {"__array_struct__", "array_struct", kShowsStruct},
     {"__cuda_array_interface__", "cuda_array_interface", kShowsCuda}}};

/// What an object offers a consumer. A type's C exchange API counts under either published name.
Shown shown_by(PyObject* x);

/// Does an object that shows so much offer that protocol? The consumer decides which struct it is.
bool offers(Shown shown, const std::string& protocol);

/// The bit of a protocol's name; 0 for `convert`, which is no protocol of its own.
Shown shown_for(const std::string& protocol);

/// The protocols of a mask, in the order in which they are printed.
std::vector<std::string> protocols_in(Shown shown);

}  // namespace dlbench::worker
