// The pybind11 consumer: functions whose arguments are py::buffer and py::array_t.
#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <complex>
#include <cstdint>

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

}  // namespace

PYBIND11_MODULE(_pybind11_consumer, module, py::mod_gil_not_used()) {
  py::class_<Taken>(module, "Taken", py::buffer_protocol()).def_buffer(&Taken::buffer);
  module.def("from_buffer", [](const py::buffer& given) { return Taken(given); });
  define_typed<float, double, std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
               std::uint32_t, std::int64_t, std::uint64_t, bool, std::complex<float>,
               std::complex<double>>(module);
  // Accepts other objects that NumPy can convert to an array, with their own dtype.
  module.def("from_array", [](const py::object& given) { return py::array(given); });
}
