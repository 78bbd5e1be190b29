#include <pybind11/stl.h>

#include "bindings/bind.hpp"
#include "sync/situations.hpp"

namespace py = pybind11;

namespace dlbench::bindings {

void bind_sync(py::module_& module) {
  module.def(
      "try_planted_waits",
      [](std::size_t count, std::uint64_t seed, int jobs) {
        std::vector<sync::Situation> tried;
        {
          const py::gil_scoped_release free;
          tried = sync::try_planted(count, seed, jobs);
        }
        py::list rows;
        for (const sync::Situation& one : tried) {
          py::dict row;
          row["kind"] = std::string(sync::kKinds[static_cast<std::size_t>(one.kind)]);
          row["neighbors"] = one.neighbors;
          row["delay_ns"] = one.delay;
          row["truth"] = std::string(sync::truth(one.kind));
          row["found"] = one.found;
          row["share_error"] = one.share_error();
          rows.append(row);
        }
        return rows;
      },
      py::arg("count"), py::arg("seed") = 1, py::arg("jobs") = 4,
      "Classifies exchanges with known synchronization on the simulated device, with busy threads. "
      "Returns a list of {kind, neighbors, delay_ns, truth, found, share_error}.");
}

}  // namespace dlbench::bindings
