#include "worker/base/gil.hpp"

#include "worker/base/py.hpp"

namespace dlbench::worker {

bool has_gil() {
  const Ref sys = checked(PyImport_ImportModule("sys"));
  const Ref enabled = optional_attribute(sys.get(), "_is_gil_enabled");
  return !enabled || PyObject_IsTrue(checked(PyObject_CallNoArgs(enabled.get())).get()) == 1;
}

bool had_gil_at_start() {
  static const bool had = has_gil();
  return had;
}

}  // namespace dlbench::worker
