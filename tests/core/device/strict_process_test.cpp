// What the fake drivers do to a whole process: each test has one of its own, as contexts and faults
// last as long as it.
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "device/backends.hpp"
#include "device/kernels.hpp"
#include "device/vendors/cuda.hpp"
#include "device/vendors/hip.hpp"
#include "fakes.hpp"

namespace dlbench::device {
namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

Address address_of(const void* pointer) {
  return reinterpret_cast<std::uintptr_t>(pointer);
}

const Table& table_of(const char* name) {
  const Backend& opened = *backend(name);
  if (opened.table == nullptr) {
    std::fprintf(stderr, "%s: %s\n", name, opened.detail.c_str());
    std::_Exit(2);
  }
  return *opened.table;
}

/// Ends the process where two codes differ.
void expect(const char* what, Code found, Code wanted) {
  if (found == wanted) return;
  std::fprintf(stderr, "%s: %d, not %d\n", what, found, wanted);
  std::_Exit(1);
}

class StrictDeathTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override { testing::GTEST_FLAG(death_test_style) = "threadsafe"; }

  /// act() in a process of its own.
  template <typename Act>
  void in_process(Act&& act) {
    EXPECT_EXIT(
        {
          alarm(20);  // a hang is a failure
          act();
          std::_Exit(0);
        },
        testing::ExitedWithCode(0), "");
  }
};

INSTANTIATE_TEST_SUITE_P(Devices, StrictDeathTest, testing::Values("cuda", "rocm"),
                         [](const auto& one) { return std::string(one.param); });

/// A stream and a word of the first device.
struct Used {
  explicit Used(const Table& of) : table(of) {
    expect("enter", table.enter(0), 0);
    expect("stream", table.stream_create(&stream, non_blocking), 0);
    expect("memory", table.allocate(&word, 4), 0);
  }

  const Table& table;
  Stream stream = nullptr;
  Address word = 0;
};

/// Every call that a context can refuse.
void expect_all(Used& used, Code wanted) {
  const Table& t = used.table;
  unsigned value = 0;
  Stream other = nullptr;
  Event event = nullptr;
  Address made = 0;
  expect("synchronize", t.synchronize(), wanted);
  expect("stream_synchronize", t.stream_synchronize(used.stream), wanted);
  expect("stream_query", t.stream_query(used.stream), wanted);
  expect("stream_create", t.stream_create(&other, 0), wanted);
  expect("event_create", t.event_create(&event, 0), wanted);
  expect("allocate", t.allocate(&made, 4), wanted);
  expect("copy", t.copy(address_of(&value), used.word, 4, used.stream), wanted);
  expect("fill32", t.fill32(used.word, 1, 1, used.stream), wanted);
  expect("free", t.free(used.word), wanted);
}

TEST_P(StrictDeathTest, AFaultOfAKernelStays) {
  in_process([] {
    Used used(table_of(GetParam()));
    unsigned pageable = 0;
    // The launch itself is fine: the kernel faults when it writes where a device does not reach.
    const Code launched = used.table.delay(used.stream, 20'000'000, 0, address_of(&pageable), 1);
    expect("delay", launched, 0);
    expect("query", used.table.stream_query(used.stream), not_ready);
    expect("wait", used.table.stream_synchronize(used.stream), 700);
    expect_all(used, 700);
  });
}

TEST_P(StrictDeathTest, APlantedFaultStaysToo) {
  in_process([] {
    const bool is_cuda = std::string(GetParam()) == "cuda";
    const Fake fake(is_cuda ? "libcuda.so.1" : "libamdhip64.so.6");
    Used used(table_of(GetParam()));
    fake.fail(is_cuda ? "cuStreamQuery=719" : "hipStreamQuery=719");
    expect("query", used.table.stream_query(used.stream), 719);
    fake.fail(nullptr);
    expect_all(used, 719);
  });
}

TEST_P(StrictDeathTest, AnotherErrorPasses) {
  in_process([] {
    const bool is_cuda = std::string(GetParam()) == "cuda";
    const Fake fake(is_cuda ? "libcuda.so.1" : "libamdhip64.so.6");
    Used used(table_of(GetParam()));
    fake.fail(is_cuda ? "cuMemAlloc=2" : "hipMalloc=2");
    Address made = 0;
    expect("allocate", used.table.allocate(&made, 4), 2);
    fake.fail(nullptr);
    expect_all(used, 0);
  });
}

TEST_P(StrictDeathTest, EachDeviceHasItsMemory) {
  in_process([] {
    const Mode two("DLBENCH_FAKE_DEVICES", "2");
    const Table& t = table_of(GetParam());
    for (int device = 0; device < 2; ++device) {
      Address made = 0;
      void* pinned = nullptr;
      Memory kind{};
      int ordinal = -1;
      expect("enter", t.enter(device), 0);
      expect("allocate", t.allocate(&made, 4), 0);
      expect("allocate_pinned", t.allocate_pinned(&pinned, 4), 0);
      expect("enter", t.enter(0), 0);
      expect("memory_of", t.memory_of(&kind, &ordinal, made), 0);
      expect("ordinal", ordinal, device);
      expect("memory_of", t.memory_of(&kind, &ordinal, address_of(pinned)), 0);
      expect("ordinal", ordinal, device);
      expect("memory_of", t.memory_of(&kind, &ordinal, address_of(&made)), 0);
      expect("ordinal", ordinal, 0);
    }
  });
}

TEST_P(StrictDeathTest, AnEventIsRecordedOnItsOwnDevice) {
  in_process([] {
    const Mode two("DLBENCH_FAKE_DEVICES", "2");
    const Table& t = table_of(GetParam());
    Used used(t);
    Event there = nullptr;
    expect("enter", t.enter(1), 0);
    expect("event", t.event_create(&there, 0), 0);
    expect("record", t.event_record(there, used.stream), 400);
    expect("record", t.event_record(there, nullptr), 0);
    // Waiting may cross devices, and so may a copy.
    expect("stream_wait", t.stream_wait(used.stream, there, 0), 0);
    expect("event_synchronize", t.event_synchronize(there), 0);
    Address made = 0;
    expect("allocate", t.allocate(&made, 4), 0);
    expect("copy", t.copy(made, used.word, 4, used.stream), 0);
    // A kernel of this device may not run on a stream of the other.
    expect("delay", t.delay(used.stream, 0, 0, 0, 0), 400);
    expect("delay", t.delay(nullptr, 0, 0, 0, 0), 0);
  });
}

TEST_P(StrictDeathTest, MemoryEnds) {
  in_process([] {
    const Mode total("DLBENCH_FAKE_MEMORY_MB", "1000");
    const Mode context("DLBENCH_FAKE_CONTEXT_MB", "600");
    const Table& t = table_of(GetParam());
    Used used(t);
    Address first = 0;
    Address second = 0;
    expect("allocate", t.allocate(&first, 300 * mib), 0);
    expect("allocate", t.allocate(&second, 300 * mib), 2);
    expect("free", t.free(first), 0);
    expect("allocate", t.allocate(&second, 300 * mib), 0);
    void* pinned = nullptr;
    expect("the host's", t.allocate_pinned(&pinned, 300 * mib), 0);
  });
}

/// What act() comes to in a process beside this one, which ends when its standard input does.
class Beside {
 public:
  template <typename Act>
  explicit Beside(Act&& act) {
    int answer[2];
    if (pipe(answer) != 0 || pipe(hold_) != 0) std::_Exit(3);
    pid_ = fork();
    if (pid_ == 0) {
      alarm(20);
      close(hold_[1]);
      code = act();
      const bool is_told = write(answer[1], &code, sizeof code) == sizeof code;
      char last = 0;
      const bool is_ended = read(hold_[0], &last, 1) == 0;
      std::_Exit(is_told && is_ended ? 0 : 1);
    }
    close(answer[1]);
    if (read(answer[0], &code, sizeof code) != sizeof code) std::_Exit(3);
    close(answer[0]);
  }
  ~Beside() {
    close(hold_[1]);
    waitpid(pid_, nullptr, 0);
    close(hold_[0]);
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  Code code = -1;

 private:
  int hold_[2] = {};
  pid_t pid_ = 0;
};

/// A file that no other test has.
struct SharedFile {
  SharedFile() : path("/tmp/dlbench_fake_memory_" + std::to_string(getpid())) {}
  ~SharedFile() { unlink(path.c_str()); }

  const std::string path;
  const Mode shared{"DLBENCH_FAKE_MEMORY_FILE", path.c_str()};
};

TEST_P(StrictDeathTest, ProcessesShareADevicesMemory) {
  in_process([] {
    const SharedFile file;
    const Mode total("DLBENCH_FAKE_MEMORY_MB", "1000");
    const Mode context("DLBENCH_FAKE_CONTEXT_MB", "400");
    const auto use = [] { return table_of(GetParam()).enter(0) != 0 ? 1 : 0; };
    const auto synchronize = [use] {
      return use() != 0 ? Code{2} : table_of(GetParam()).synchronize();
    };
    {
      const Beside first(synchronize);
      const Beside second(synchronize);
      expect("first", first.code, 0);
      expect("second", second.code, 0);
      const Beside third(synchronize);
      expect("third", third.code, 2);
    }
    // What ended has nothing any more.
    const Beside fourth(synchronize);
    expect("fourth", fourth.code, 0);
  });
}

TEST_P(StrictDeathTest, AnExclusiveDeviceLetsOneProcessIn) {
  in_process([] {
    const SharedFile file;
    const Mode exclusive("DLBENCH_FAKE_MODE", "3");
    const auto use = [] {
      const Table& table = table_of(GetParam());
      const Code code = table.enter(0);
      return code != 0 ? code : table.synchronize();
    };
    const Code busy = std::string(GetParam()) == "cuda" ? 46 : 304;
    {
      const Beside first(use);
      expect("first", first.code, 0);
      const Beside second(use);
      expect("second", second.code, busy);
    }
    const Beside third(use);
    expect("third", third.code, 0);
  });
}

TEST_P(StrictDeathTest, QueuesAreAsTheVendorsVariableSays) {
  in_process([] {
    const bool is_cuda = std::string(GetParam()) == "cuda";
    const Mode more(is_cuda ? "CUDA_DEVICE_MAX_CONNECTIONS" : "GPU_MAX_HW_QUEUES", "16");
    Used used(table_of(GetParam()));
    // The ninth after it shares its queue with neither vendor's own number.
    Stream later = nullptr;
    for (int i = 0; i < 8; ++i) {
      expect("stream", used.table.stream_create(&later, non_blocking), 0);
    }
    expect("delay", used.table.delay(used.stream, 30'000'000, 0, 0, 0), 0);
    expect("delay", used.table.delay(later, 0, 0, 0, 0), 0);
    expect("wait", used.table.stream_synchronize(later), 0);
    expect("query", used.table.stream_query(used.stream), not_ready);
  });
}

/// Whether work of `second` waits for work of `first` that is still in its queue.
bool waits_for(const Table& table, Stream second, Stream first) {
  expect("delay", table.delay(first, 50'000'000, 0, 0, 0), 0);
  expect("delay", table.delay(second, 0, 0, 0, 0), 0);
  expect("wait", table.stream_synchronize(second), 0);
  const bool waited = table.stream_query(first) == 0;
  expect("wait", table.stream_synchronize(first), 0);
  return waited;
}

TEST_P(StrictDeathTest, ANewStreamTakesAQueueAsTheVendorsStreamsDo) {
  in_process([] {
    const bool takes_turns = std::string(GetParam()) == "cuda";
    const Mode three("DLBENCH_FAKE_QUEUES", "3");
    const Table& table = table_of(GetParam());
    expect("enter", table.enter(0), 0);
    // The default stream is on the first queue, these are on the second, third and first.
    Stream made[5] = {};
    for (int i = 0; i < 3; ++i) expect("stream", table.stream_create(&made[i], non_blocking), 0);
    expect("destroy", table.stream_destroy(made[0]), 0);
    // The second is both the next in turn and without a stream. Then it has one, as the third.
    for (int i = 3; i < 5; ++i) expect("stream", table.stream_create(&made[i], non_blocking), 0);
    expect("the next in turn", waits_for(table, made[4], made[1]), takes_turns);
    expect("the least used", waits_for(table, made[4], made[3]), !takes_turns);
  });
}

/// A function of the fake HIP runtime that dlbench's own table does not have.
template <typename Function>
Function of_runtime(const char* name) {
  return reinterpret_cast<Function>(
      dlsym(dlopen("libamdhip64.so.6", RTLD_LAZY | RTLD_NOLOAD), name));
}

using EntryPoint = void*;

/// A function of the CUDA driver, as of a version; nullptr: not found.
EntryPoint entry_point(const char* name, int version) {
  EntryPoint found = nullptr;
  const Code code = cuda::driver().api.get_proc_address(name, &found, version, 0);
  expect(name, code, found != nullptr ? 0 : 500);
  return found;
}

/// A function ends with its module: loaded, launched, unloaded and launched again.
template <typename Api, typename Launch>
void expect_end_with_module(const Api& api, Code (*unload)(void*), const char* image,
                            Launch&& launch, Code unloaded) {
  void* module = nullptr;
  void* function = nullptr;
  expect("load", api.module_load_data(&module, image), 0);
  expect("function", api.module_get_function(&function, module, delay_kernel), 0);
  expect("launch", launch(function), 0);
  expect("unload", unload(module), 0);
  expect("launch of an unloaded module's", launch(function), 400);
  expect("function of an unloaded module", api.module_get_function(&function, module, delay_kernel),
         unloaded);
  expect("unload again", unload(module), unloaded);
}

/// Launches the delay kernel by a vendor's function.
template <typename Function>
auto launcher(Function launch_kernel, Stream stream) {
  return [=](void* function) {
    std::int64_t ns = 0;
    Address none = 0;
    unsigned value = 0;
    void* parameters[] = {&ns, &none, &none, &value};
    return launch_kernel(function, 1, 1, 1, 1, 1, 1, 0, stream, parameters, nullptr);
  };
}

TEST_P(StrictDeathTest, AFunctionEndsWithItsModule) {
  in_process([] {
    using Unload = Code (*)(void*);
    Used used(table_of(GetParam()));
    if (std::string(GetParam()) == "cuda") {
      const cuda::Api& api = cuda::driver().api;
      const auto unload = reinterpret_cast<Unload>(entry_point("cuModuleUnload", 13000));
      const std::string image = ".visible .entry " + std::string(delay_kernel) + "(";
      expect_end_with_module(api, unload, image.c_str(), launcher(api.launch_kernel, used.stream),
                             400);
    } else {
      const hip::Api& api = hip::runtime().api;
      const std::string image =
          "\x7F"
          "ELF gfx942:sramecc+:xnack-\nvoid " +
          std::string(delay_kernel) + "(";
      expect_end_with_module(api, of_runtime<Unload>("hipModuleUnload"), image.c_str(),
                             launcher(api.module_launch_kernel, used.stream), 500);
    }
  });
}

TEST(EntryPointsDeathTest, AreOfTheVersionThatIsAskedFor) {
  // Three prototypes of one name; two that only brought a parameter later; one for all.
  EXPECT_NE(entry_point("cuCtxCreate", 11000), entry_point("cuCtxCreate", 12000));
  EXPECT_NE(entry_point("cuCtxCreate", 12000), entry_point("cuCtxCreate", 13000));
  EXPECT_NE(entry_point("cuCtxGetDevice", 12000), entry_point("cuCtxGetDevice", 13000));
  EXPECT_NE(entry_point("cuCtxSynchronize", 12000), entry_point("cuCtxSynchronize", 13000));
  EXPECT_NE(entry_point("cuStreamGetCtx", 12000), entry_point("cuStreamGetCtx", 13000));
  EXPECT_EQ(entry_point("cuMemAlloc", 11040), entry_point("cuMemAlloc", 13000));
  EXPECT_EQ(entry_point("cuLibraryLoadData", 11080), nullptr);
  EXPECT_NE(entry_point("cuLibraryLoadData", 12000), nullptr);
  {
    const Mode old("DLBENCH_FAKE_DRIVER", "11040");
    EXPECT_EQ(entry_point("cuLibraryLoadData", 13000), nullptr);
    EXPECT_EQ(entry_point("cuCtxGetDevice", 13000), entry_point("cuCtxGetDevice", 12000));
  }
  const Mode older("DLBENCH_FAKE_DRIVER", "11020");
  EXPECT_EQ(entry_point("cuGetProcAddress", 13000), nullptr);
}

TEST(EntryPointsDeathTest, WhatADriverOf11_4HasIsEnough) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        const Mode old("DLBENCH_FAKE_DRIVER", "11040");
        Used used(table_of("cuda"));
        expect_all(used, 0);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(EntryPointsDeathTest, HandlesBelongToTheirContext) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        using Create = Code (*)(void**, void*, unsigned, int);
        using Destroy = Code (*)(void*);
        Used used(table_of("cuda"));
        const cuda::Api& api = cuda::driver().api;
        void* other = nullptr;
        Event there = nullptr;
        const auto create = reinterpret_cast<Create>(entry_point("cuCtxCreate", 13000));
        const auto destroy = reinterpret_cast<Destroy>(entry_point("cuCtxDestroy", 13000));
        expect("delay", used.table.delay(used.stream, 0, 0, 0, 0), 0);
        expect("cuCtxCreate", create(&other, nullptr, 0, 0), 0);
        expect("event", api.event_create(&there, 0), 0);
        expect("cuEventRecord", api.event_record(there, used.stream), 400);
        // The kernel was loaded in the first context, and this is the second one's default stream.
        expect("cuLaunchKernel", used.table.delay(nullptr, 0, 0, 0, 0), 400);
        expect("cuCtxDestroy", destroy(other), 0);
        expect("cuCtxDestroy", destroy(other), 201);
        expect("cuCtxSetCurrent", api.ctx_set_current(other), 201);
        expect("cuCtxSetCurrent", api.ctx_set_current(&used), 201);
        expect("cuEventQuery", used.table.enter(0), 0);
        expect("cuEventQuery", api.event_query(there), 400);
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

TEST(CoherenceDeathTest, MemoryWithoutTheFlagIsSeenAfterAWait) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        Used used(table_of("rocm"));
        const hip::Api& api = hip::runtime().api;
        constexpr unsigned coherent = 0x40000000;
        // hipHostMallocPortable alone is not coherent; with no flag at all memory is.
        for (const unsigned flags : {0U, 1U, 1U | coherent}) {
          void* memory = nullptr;
          expect("hipHostMalloc", api.host_malloc(&memory, 4, flags), 0);
          auto* const observed = static_cast<unsigned*>(memory);
          *observed = 1;
          expect("delay", used.table.delay(used.stream, 0, 0, address_of(observed), 2), 0);
          while (used.table.stream_query(used.stream) == not_ready) usleep(100);
          const unsigned before = __atomic_load_n(observed, __ATOMIC_ACQUIRE);
          expect("before the wait", static_cast<Code>(before), flags == 1 ? 1 : 2);
          expect("wait", used.table.stream_synchronize(used.stream), 0);
          expect("after the wait", static_cast<Code>(*observed), 2);
        }
        std::_Exit(0);
      },
      testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace dlbench::device
