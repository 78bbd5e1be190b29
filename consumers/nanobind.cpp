// The nanobind consumer: a function whose argument is nb::ndarray.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <vector>

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

}  // namespace

NB_MODULE(_nanobind_consumer, module) {
  nb::class_<Taken>(module, "Taken").def_prop_ro("address", &address).def("view", &view);
  module.def("from_any", [](nb::ndarray<> array) { return Taken{std::move(array)}; });
}
