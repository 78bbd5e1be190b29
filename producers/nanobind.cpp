// The nanobind producer: a function that returns an nb::ndarray over another object's memory.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <vector>

namespace nb = nanobind;

namespace {

template <typename... Access>
nb::object export_array(const nb::object& source) {
  const auto observed = nb::cast<nb::ndarray<nb::ro>>(source);
  std::vector<std::size_t> shape(observed.ndim());
  for (std::size_t d = 0; d < shape.size(); ++d) shape[d] = observed.shape(d);
  return nb::cast(nb::ndarray<nb::array_api, Access...>(
      const_cast<void*>(static_cast<const void*>(observed.data())), shape.size(), shape.data(),
      source, observed.stride_ptr(), observed.dtype()));
}

}  // namespace

NB_MODULE(_nanobind_producer, module) {
  module.attr("VERSION") = BINDING_VERSION;
  module.def("export_array", &export_array<>);
  module.def("export_readonly", &export_array<nb::ro>);
}
