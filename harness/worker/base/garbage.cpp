#include "worker/base/garbage.hpp"

#include "worker/base/py.hpp"

namespace dlbench::worker {
namespace {

// Collecting the youngest generation takes microseconds, collecting all generations milliseconds.
constexpr int kYoung = 1, kAll = 2;
constexpr int kRoundsBetweenFullScans = 64;

// The functions of the gc module. They also work while the collector is disabled; PyGC_Collect does
// not.
struct Collector {
  Ref module = checked(PyImport_ImportModule("gc"));
  Ref collect = checked(PyObject_GetAttrString(module.get(), "collect"));
};

Collector& collector() {
  static Collector& only = *new Collector;
  return only;
}

}  // namespace

void stop_garbage_collector() {
  checked(PyObject_CallMethod(collector().module.get(), "freeze", nullptr));
  checked(PyObject_CallMethod(collector().module.get(), "disable", nullptr));
}

void freeze_survivors() {
  checked(PyObject_CallFunction(collector().collect.get(), "i", kAll));
  checked(PyObject_CallMethod(collector().module.get(), "freeze", nullptr));
}

void collect_garbage() {
  static int rounds = 0;
  const int generation = ++rounds % kRoundsBetweenFullScans == 0 ? kAll : kYoung;
  checked(PyObject_CallFunction(collector().collect.get(), "i", generation));
}

}  // namespace dlbench::worker
