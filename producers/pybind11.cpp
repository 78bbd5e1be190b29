// The pybind11 producer: a class with the buffer protocol.
#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace {

/// An array over foreign memory, which it keeps alive.
class Array {
 public:
  explicit Array(const py::buffer& source) : held_(source.request()) {}

  py::buffer_info buffer() const {
    return {held_.ptr,   held_.itemsize, held_.format,  held_.ndim,
            held_.shape, held_.strides,  held_.readonly};
  }

 private:
  py::buffer_info held_;
};

}  // namespace

PYBIND11_MODULE(_pybind11_producer, module, py::mod_gil_not_used()) {
  module.attr("VERSION") = BINDING_VERSION;
  py::class_<Array>(module, "Array", py::buffer_protocol())
      .def(py::init<const py::buffer&>())
      .def_buffer(&Array::buffer);
}
