#include "worker/timing/parts.hpp"

namespace dlbench::worker {

// A function for each part. As in frames.cpp, the asm statements prevent the compiler from merging
// the functions and from making tail calls.
template <int part>
__attribute__((visibility("default"), noinline)) int dlbench_part(PartStep step, void* self,
                                                                  std::size_t index) {
  asm volatile("# part %c0" : : "i"(part));
  int status = step(self, index);
  asm volatile("" : "+r"(status));
  return status;
}

int in_part(Part part, PartStep step, void* self, std::size_t index) {
  using Runner = int (*)(PartStep, void*, std::size_t);
  constexpr std::array<Runner, 6> kRunners{&dlbench_part<0>, &dlbench_part<1>, &dlbench_part<2>,
                                           &dlbench_part<3>, &dlbench_part<4>, &dlbench_part<5>};
  return kRunners[static_cast<std::size_t>(part)](step, self, index);
}

}  // namespace dlbench::worker
