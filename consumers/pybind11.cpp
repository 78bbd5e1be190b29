// The pybind11 consumer: functions whose arguments are py::buffer and py::array_t.
#include <pybind11/complex.h>
#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <complex>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

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

void describe(std::size_t position, py::ssize_t ndim, const py::ssize_t* shape,
              const py::ssize_t* strides, char kind, py::ssize_t itemsize) {
  static const std::map<char, std::uint8_t> codes{{'i', 0}, {'u', 1}, {'f', 2}, {'c', 5}, {'b', 6}};
  const auto code = codes.find(kind);
  const bool is_known = code != codes.end();
  dlbench_call_describe(position, static_cast<std::int32_t>(ndim), shape, strides, 1,
                        is_known ? code->second : 0,
                        is_known ? static_cast<std::uint8_t>(8 * itemsize) : 0);
}

/// The address of an argument, which is described to the record. The GIL may be released.
void* argument(std::size_t position, const py::array& array) {
  if (dlbench_call_record.described != nullptr) [[unlikely]] {
    const auto* type = py::detail::array_proxy(array.ptr())->descr;
    describe(position, array.ndim(), array.shape(), array.strides(),
             py::detail::array_descriptor_proxy(type)->kind, array.itemsize());
  }
  return const_cast<void*>(array.data());
}
void* argument(std::size_t position, const py::buffer& array) {
  const py::buffer_info info = array.request();
  if (dlbench_call_record.described != nullptr) [[unlikely]] {
    describe(position, info.ndim, info.shape.data(), info.strides.data(), py::dtype(info).kind(),
             info.itemsize);
  }
  return info.ptr;
}

struct Converted {
  static py::arg argument(std::size_t) { return py::arg(); }
};
struct NotConverted {
  static py::arg argument(std::size_t) { return py::arg().noconvert(); }
};
struct Named {
  static py::arg argument(std::size_t position) {
    return py::arg(dlbench::call::parameter_name(position));
  }
};

/// What a function returns: nothing, or a NumPy array that it allocates.
struct Nothing {
  static void make() {}
};
struct Output {
  static py::array_t<float> make() {
    return py::array_t<float>(static_cast<py::ssize_t>(dlbench::call::kOutput));
  }
};

/// Defines PREFIX_N for each number of arguments of that type, and `More` after them. `Result` is
/// made by the function.
template <typename Argument, typename Kind = Converted, typename Result = Nothing, typename... More,
          typename... Extra>
void define_calls(py::module_& module, const std::string& prefix, const Extra&... extra) {
  dlbench::call::each_number([&]<std::size_t... position>(std::index_sequence<position...>) {
    constexpr std::size_t number = sizeof...(position);
    module.def((prefix + "_" + std::to_string(number)).c_str(),
               [](const dlbench::call::Each<position, Argument>&... array, More...) {
                 void* const addresses[] = {argument(position, array)..., nullptr};
                 dlbench_call(number, addresses);
                 return Result::make();
               },
               Kind::argument(position)..., ((void)sizeof(More), py::arg())..., extra...);
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
  define_calls<py::array_t<float, py::array::c_style>, NotConverted>(module, "call_noconvert");
  define_calls<py::array>(module, "call_array");
  define_calls<py::buffer>(module, "call_buffer");
  define_calls<py::array_t<float>, Named>(module, "call_named");
  define_calls<py::array_t<float>, Converted, Output>(module, "call_output");
  define_calls<py::array_t<float>, Converted, Nothing, std::int64_t, double>(module,
                                                                             "call_scalars");
  define_calls<py::array_t<float>>(module, "call_nogil", py::call_guard<py::gil_scoped_release>());
  module.def("call_list", [](const std::vector<py::array_t<float>>& arrays) {
    for (std::size_t i = 0; i < arrays.size(); ++i)
      dlbench_call_argument(i, argument(i, arrays[i]));
    dlbench_call_end(arrays.size());
  });
  // Accepts other objects that NumPy can convert to an array, with their own dtype.
  module.def("from_array", [](const py::object& given) { return py::array(given); });
}
