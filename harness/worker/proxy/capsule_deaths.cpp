#include "worker/proxy/capsule_deaths.hpp"

#include <cstring>

namespace dlbench::worker {
namespace {

constexpr std::array<const char*, 4> kCapsules{"dltensor", "used_dltensor", "dltensor_versioned",
                                               "used_dltensor_versioned"};
destructor real_dealloc = nullptr;
CapsuleDeaths::Counts deaths{};

void counting_dealloc(PyObject* capsule) {
  const char* name = PyCapsule_GetName(capsule);
  std::size_t which = 0;
  while (which < kCapsules.size() &&
         (name == nullptr || std::strcmp(name, kCapsules[which]) != 0)) {
    ++which;
  }
  ++deaths[which];
  real_dealloc(capsule);
}

}  // namespace

CapsuleDeaths::CapsuleDeaths() {
  deaths = {};
  real_dealloc = PyCapsule_Type.tp_dealloc;
  PyCapsule_Type.tp_dealloc = counting_dealloc;
}

CapsuleDeaths::~CapsuleDeaths() {
  PyCapsule_Type.tp_dealloc = real_dealloc;
}

CapsuleDeaths::Counts CapsuleDeaths::counts() const {
  return deaths;
}

}  // namespace dlbench::worker
