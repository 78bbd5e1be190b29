// The pybind11 consumer: functions whose arguments are py::buffer and py::array_t.
#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <complex>
#include <cstdint>
#include <string>

#include "call/body.h"
#include "call/numbers.h"

namespace py = pybind11;

namespace {

/// The buffer of a py::buffer argument, exported as a buffer again.
class Taken {
 public:
  explicit Taken(const py::buffer& given) : observed_(given.request()) {}

  py::buffer_info buffer() const {
    return {observed_.ptr,   observed_.itemsize, observed_.format,  observed_.ndim,
            observed_.shape, observed_.strides,  observed_.readonly};
  }

 private:
  py::buffer_info observed_;
};

/// Defines an overload for each T, which accepts NumPy arrays of that dtype without conversion.
template <typename... T>
void define_typed(py::module_& module) {
  (module.def(
       "from_array", [](py::array_t<T> array) { return array; }, py::arg().noconvert()),
   ...);
}

void* address(const py::array& array) {
  return const_cast<void*>(array.data());
}
void* address(const py::buffer& array) {
  return array.request().ptr;
}

/// Defines PREFIX_N for each number of arguments of that type.
template <typename Argument, bool converts = true>
void define_calls(py::module_& module, const std::string& prefix) {
  dlbench::call::each_number([&]<std::size_t... position>(std::index_sequence<position...>) {
    constexpr std::size_t number = sizeof...(position);
    module.def((prefix + "_" + std::to_string(number)).c_str(),
               [](const dlbench::call::Each<position, Argument>&... array) {
                 void* const addresses[] = {address(array)..., nullptr};
                 dlbench_call(number, addresses);
               },
               dlbench::call::Each<position, py::arg>(py::arg().noconvert(!converts))...);
  });
}

}  // namespace

PYBIND11_MODULE(_pybind11_consumer, module, py::mod_gil_not_used()) {
  py::class_<Taken>(module, "Taken", py::buffer_protocol()).def_buffer(&Taken::buffer);
  module.def("from_buffer", [](const py::buffer& given) { return Taken(given); });
  define_typed<float, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
               std::uint32_t, std::int64_t, std::uint64_t, bool, std::complex<float>,
               std::complex<double>>(module);
  define_calls<py::array_t<float>>(module, "call_array_t");
  define_calls<py::array_t<float, py::array::c_style>, false>(module, "call_noconvert");
  define_calls<py::array>(module, "call_array");
  define_calls<py::buffer>(module, "call_buffer");
  // Accepts other objects that NumPy can convert to an array, with their own dtype.
  module.def("from_array", [](const py::object& given) { return py::array(given); });
}
