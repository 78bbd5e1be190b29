// The nanobind consumer: a function whose argument is nb::ndarray.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/vector.h>

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

/// The address of an argument, which is described to the record.
template <typename Array>
void* argument(std::size_t position, const Array& array) {
  if (dlbench_call_record.described != nullptr) [[unlikely]] {
    const nb::dlpack::dtype type = array.dtype();
    dlbench_call_describe(position, static_cast<std::int32_t>(array.ndim()), array.shape_ptr(),
                          array.stride_ptr(), static_cast<std::int64_t>(array.itemsize()),
                          type.code, type.lanes == 1 ? type.bits : 0);
  }
  return const_cast<void*>(static_cast<const void*>(array.data()));
}

/// What a function returns: nothing, or a NumPy array that it allocates.
struct Nothing {
  static void make() {}
};
struct Output {
  static nb::ndarray<nb::numpy, float, nb::ndim<1>> make() {
    auto* values = new float[dlbench::call::kOutput];
    const nb::capsule owner(values, [](void* p) noexcept { delete[] static_cast<float*>(p); });
    return {values, {dlbench::call::kOutput}, owner};
  }
};

struct Converted {
  static auto argument(std::size_t) { return nb::arg(); }
};
struct NotConverted {
  static auto argument(std::size_t) { return nb::arg().noconvert(); }
};
struct Named {
  static auto argument(std::size_t position) {
    return nb::arg(dlbench::call::parameter_name(position));
  }
};

/// Defines PREFIX_N for each number of arguments of that type, and `More` after them. `Result` is
/// made by the function.
template <typename Argument, typename Kind = Converted, typename Result = Nothing, typename... More,
          typename... Extra>
void define_calls(nb::module_& module, const std::string& prefix, const Extra&... extra) {
  dlbench::call::each_number([&]<std::size_t... position>(std::index_sequence<position...>) {
    constexpr std::size_t number = sizeof...(position);
    module.def((prefix + "_" + std::to_string(number)).c_str(),
               [](dlbench::call::Each<position, Argument>... array, More...) {
                 void* const addresses[] = {argument(position, array)..., nullptr};
                 dlbench_call(number, addresses);
                 return Result::make();
               },
               Kind::argument(position)..., ((void)sizeof(More), nb::arg())..., extra...);
  });
}

}  // namespace

NB_MODULE(_nanobind_consumer, module) {
  nb::class_<Taken>(module, "Taken").def_prop_ro("address", &address).def("view", &view);
  define_calls<Typed>(module, "call_typed");
  define_calls<Typed, NotConverted>(module, "call_noconvert");
  define_calls<nb::ndarray<>>(module, "call_untyped");
  define_calls<Typed, Named>(module, "call_named");
  define_calls<Typed, Converted, Output>(module, "call_output");
  define_calls<Typed, Converted, Nothing, std::int64_t, double>(module, "call_scalars");
  define_calls<Typed>(module, "call_nogil", nb::call_guard<nb::gil_scoped_release>());
  module.def("call_list", [](const std::vector<Typed>& arrays) {
    for (std::size_t i = 0; i < arrays.size(); ++i)
      dlbench_call_argument(i, argument(i, arrays[i]));
    dlbench_call_end(arrays.size());
  });
  module.def("from_any", [](nb::ndarray<> array) { return Taken{std::move(array)}; });
}
