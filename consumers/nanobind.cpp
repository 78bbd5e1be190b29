// The nanobind consumer: a function whose argument is nb::ndarray.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <string>
#include <vector>

#include "call/body.h"
#include "call/numbers.h"

namespace nb = nanobind;

namespace {

/// The imported array. A function that returns the nb::ndarray itself returns its argument.
struct Taken {
  nb::ndarray<> array;
};

std::uintptr_t address(const Taken& taken) {
  return reinterpret_cast<std::uintptr_t>(taken.array.data());
}

nb::object view(const nb::object& self) {
  const nb::ndarray<>& array = nb::cast<Taken&>(self).array;
  std::vector<std::size_t> shape(array.ndim());
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = array.shape(d);
  return nb::cast(nb::ndarray<nb::array_api>(array.data(), shape.size(), shape.data(), self,
                                             array.stride_ptr(), array.dtype()));
}

using Typed = nb::ndarray<float, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <bool converts>
auto any_argument() {
  if constexpr (converts)
    return nb::arg();
  else
    return nb::arg().noconvert();
}

/// Defines PREFIX_N for each number of arguments of that type.
template <typename Argument, bool converts = true>
void define_calls(nb::module_& module, const std::string& prefix) {
  dlbench::call::each_number([&]<std::size_t... position>(std::index_sequence<position...>) {
    constexpr std::size_t number = sizeof...(position);
    module.def((prefix + "_" + std::to_string(number)).c_str(),
               [](dlbench::call::Each<position, Argument>... array) {
                 void* const addresses[] = {array.data()..., nullptr};
                 dlbench_call(number, addresses);
               },
               ((void)position, any_argument<converts>())...);
  });
}

}  // namespace

NB_MODULE(_nanobind_consumer, module) {
  nb::class_<Taken>(module, "Taken").def_prop_ro("address", &address).def("view", &view);
  define_calls<Typed>(module, "call_typed");
  define_calls<Typed, false>(module, "call_noconvert");
  define_calls<nb::ndarray<>>(module, "call_untyped");
  module.def("from_any", [](nb::ndarray<> array) { return Taken{std::move(array)}; });
}
