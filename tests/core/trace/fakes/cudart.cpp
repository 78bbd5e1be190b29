// A CUDA runtime over the driver beside it. With $DLBENCH_FAKE_CUDART=deaf its copies reach the
// device by a way that CUPTI does not see.
#include <dlfcn.h>

#include <cstdlib>
#include <cstring>
#include <string_view>

extern "C" __attribute__((visibility("default"))) int cudaMemcpy(void* to, const void* from,
                                                                 std::size_t bytes, int) {
  const char* set = std::getenv("DLBENCH_FAKE_CUDART");
  if (set != nullptr && std::string_view(set) == "deaf") {
    std::memcpy(to, from, bytes);
    return 0;
  }
  // The addresses of the fake device are those of the host.
  using Find = int (*)(const char*, void**, int, unsigned long long);
  using Copy = int (*)(unsigned long long, unsigned long long, std::size_t);
  void* const driver = ::dlopen("libcuda.so.1", RTLD_LAZY);
  const auto find = reinterpret_cast<Find>(::dlsym(driver, "cuGetProcAddress"));
  void* copy = nullptr;
  if (find == nullptr || find("cuMemcpyDtoD", &copy, 12000, 0) != 0) return 1;
  return reinterpret_cast<Copy>(copy)(reinterpret_cast<unsigned long long>(to),
                                      reinterpret_cast<unsigned long long>(from), bytes);
}
