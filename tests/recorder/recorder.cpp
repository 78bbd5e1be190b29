// An auditor of the dynamic linker (rtld-audit(7)) that records the calls of a GPU's driver.
//
//   LD_AUDIT=PATH/dlbench_recorder.so DLBENCH_RECORD=FOLDER program ...
//
// Where something binds a function of libcuda.so, libamdhip64.so or libhiprtc.so that dlbench
// knows, by a link or by dlsym, it is given a function of ours that calls the driver's and writes a
// line. cuGetProcAddress gives out such functions too. All else is bound as ever.
#include <link.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <tuple>
#include <utility>

#include "device/vendors/cuda_api.hpp"
#include "device/vendors/hip_api.hpp"
#include "numbers.hpp"
#include "roles.hpp"
#include "trace.hpp"

namespace dlbench::recorder {

namespace {

using device::Address;
using device::Code;

std::atomic_flag lock_flag;

constexpr std::uint64_t default_limit = 20'000;

std::uint64_t number_at(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

std::string command_line() {
  std::string text(4096, '\0');
  const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  const auto bytes = file < 0 ? ssize_t{0} : ::read(file, text.data(), text.size());
  if (file >= 0) ::close(file);
  text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  for (char& letter : text) letter = letter == '\0' ? ' ' : letter;
  return text;
}

void write_line(Process& process, Line& line) {
  if (process.full) return;
  if (process.left == 0) {
    process.full = true;
    Line last;
    last.key("full");
    last.raw("true");
    process.file.append(last.finish());
    return;
  }
  --process.left;
  process.file.append(line.finish());
}

/// Where traces go; nullptr: nowhere.
const char* folder() {
  const char* const named = std::getenv("DLBENCH_RECORD");
  return named == nullptr || *named == '\0' ? nullptr : named;
}

void begin_trace(Process& process) {
  if (!process.file.open(folder())) {
    std::fprintf(stderr, "recorder: no trace of process %d: %s: %s\n", static_cast<int>(getpid()),
                 folder(), std::strerror(errno));
    return;
  }
  process.left = number_at("DLBENCH_RECORD_LIMIT", default_limit);
  process.begin = now();
  timespec clock{};
  clock_gettime(CLOCK_REALTIME, &clock);
  Line line;
  line.key("trace");
  line.number(format_version);
  line.key("process");
  line.number(getpid());
  line.key("program");
  line.string(command_line());
  line.key("begin");
  line.number(std::int64_t{clock.tv_sec} * 1'000'000'000 + clock.tv_nsec);
  line.key("unit");
  line.string("ns");
  ++process.left;
  write_line(process, line);
}

/// This process's; a new one in a child that was forked. Call with the lock held.
Process& process() {
  static Process* current = nullptr;
  // A page that is empty in a forked child tells it from its parent without a system call.
  static std::uint64_t* const mark = [] {
    void* const page =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) std::abort();
    madvise(page, 4096, MADV_WIPEONFORK);
    return static_cast<std::uint64_t*>(page);
  }();
  if (*mark == 0) {
    *mark = 1;
    current = new Process;  // lives as long as the process; the parent's is left as it is
    begin_trace(*current);
  }
  return *current;
}

int thread_number(Process& to) {
  static thread_local long id = 0;
  if (id == 0) id = syscall(SYS_gettid);
  return to.threads.try_emplace(id, static_cast<int>(to.threads.size()) + 1).first->second;
}

/// What each call's line begins with, up to its first argument.
void begin_call(Line& line, Process& to, std::string_view name, std::int64_t begin,
                std::int64_t end) {
  line.key("call");
  line.string(name);
  line.key("at");
  line.number(begin - to.begin);
  line.key("took");
  line.number(end - begin);
  line.key("thread");
  line.number(thread_number(to));
  line.key("arguments");
  line.raw("[");
}

template <typename T>
std::uint64_t as_number(T value) {
  if constexpr (std::is_pointer_v<T>) {
    return reinterpret_cast<std::uintptr_t>(value);
  } else {
    return static_cast<std::uint64_t>(value);
  }
}

template <typename T>
constexpr bool is_handle = std::is_same_v<T, void*> || std::is_same_v<T, Address>;

template <typename T>
void write_value(Process& to, Line& line, const T& value) {
  if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, Address>) {
    line.number(value);
  } else if constexpr (std::is_same_v<T, const char*>) {
    value == nullptr ? line.raw("null") : line.string(value);
  } else if constexpr (is_handle<T>) {
    to.numbers.write(line, as_number(value));
  } else {
    static_assert(sizeof value == 16);
    const auto* bytes = reinterpret_cast<const unsigned char*>(&value);
    constexpr char hex[] = "0123456789abcdef";
    std::string text;
    for (std::size_t i = 0; i < sizeof value; ++i) {
      text += hex[bytes[i] >> 4];
      text += hex[bytes[i] & 15];
    }
    line.string(text);
  }
}

/// A module: text of the known kernel, other text, or the buffer that it lies in.
void write_image(Process& to, Line& line, const void* image) {
  const char* const text = static_cast<const char*>(image);
  constexpr std::string_view elf =
      "\x7f"
      "ELF";
  if (text == nullptr || std::string_view(text, 4) == elf || (*text & 0x80) != 0)
    return to.numbers.write(line, as_number(image));
  // The compiler's output for a GPU of AMD is a bundle that begins with its name.
  const std::string_view all = text;
  if (all.starts_with("__CLANG_OFFLOAD_BUNDLE__") || all.size() < 16)
    return to.numbers.write(line, as_number(image));
  line.string(all.find(delay_kernel) != std::string_view::npos ? "text: delay" : "text");
}

void write_parameters(Process& to, Line& line, bool is_delay, bool is_hip, void** parameters) {
  if (!is_delay || parameters == nullptr) return line.raw("null");
  const auto word = [&](int i) {
    std::uint64_t value = 0;
    std::memcpy(&value, parameters[i], sizeof value);
    return value;
  };
  unsigned stored = 0;
  std::memcpy(&stored, parameters[3], sizeof stored);
  line.raw("[");
  line.number(static_cast<std::int64_t>(word(0)));
  line.raw(",");
  to.numbers.write(line, word(1));
  line.raw(",");
  to.numbers.write(line, word(2));
  line.raw(",");
  line.number(stored);
  if (is_hip) {
    line.raw(",");
    line.number(static_cast<std::int64_t>(word(4)));
  }
  line.raw("]");
}

/// Functions of ours for one prototype, each for one function of the driver at a time.
template <typename F>
struct Hooks;

template <typename R, typename... A>
struct Hooks<R (*)(A...)> {
  using Function = R (*)(A...);
  using Arguments = std::tuple<A...>;
  static constexpr std::size_t count = sizeof...(A);
  // A function has up to two addresses: that of the legacy default stream and the per-thread one.
  static constexpr std::size_t most = 32;

  struct Slot {
    std::string name;
    Function real = nullptr;
    std::array<Role, count> roles{};
  };
  static inline std::array<Slot, most> slots;
  static inline std::size_t used = 0;

  /// nullptr where none is left.
  static void* hook_for(const std::string& name, void* real) {
    const auto function = reinterpret_cast<Function>(real);
    std::size_t i = 0;
    while (i < used && (slots[i].real != function || slots[i].name != name)) ++i;
    if (i == most) return nullptr;
    if (i == used) {
      slots[i].name = name;
      slots[i].real = function;
      [&]<std::size_t... at>(std::index_sequence<at...>) {
        ((slots[i].roles[at] = role<A>(name.substr(0, name.rfind("_pt")), at)), ...);
      }
      (std::make_index_sequence<count>());
      ++used;
    }
    return [&]<std::size_t... at>(std::index_sequence<at...>) {
      constexpr Function all[] = {&hook<at>...};
      return reinterpret_cast<void*>(all[i]);
    }
    (std::make_index_sequence<most>());
  }

 private:
  template <std::size_t i>
  static R hook(A... arguments) {
    return call(slots[i], arguments...);
  }

  static R call(const Slot& slot, A... arguments) {
    const Arguments all(arguments...);
    const std::uint64_t given = given_before(slot, all);
    const std::int64_t begin = now();
    const R result = slot.real(arguments...);
    const std::int64_t end = now();
    const Lock lock(lock_flag);
    Process& to = process();
    if (!to.full) write(to, slot, all, given, result, begin, end);
    return result;
  }

  static std::uint64_t given_before(const Slot& slot, const Arguments& all) {
    std::uint64_t value = 0;
    if constexpr (count == 1) {
      if constexpr (std::is_same_v<std::tuple_element_t<0, Arguments>, void**>) {
        if (slot.roles[0] == Role::Given && std::get<0>(all) != nullptr)
          value = as_number(*std::get<0>(all));
      }
    }
    return value;
  }

  static void write(Process& to, const Slot& slot, const Arguments& all, std::uint64_t given,
                    R result, std::int64_t begin, std::int64_t end) {
    bool succeeded = true;
    if constexpr (std::is_same_v<R, Code>) succeeded = result == 0;
    if (succeeded) remember(to, slot, all);
    Line line;
    begin_call(line, to, slot.name, begin, end);
    [&]<std::size_t... at>(std::index_sequence<at...>) {
      ((line.raw(at == 0 ? "" : ","), write_argument<at>(to, line, slot, all, given, succeeded)),
       ...);
    }
    (std::make_index_sequence<count>());
    line.raw("]");
    if (succeeded) write_alignment(line, slot, all);
    if constexpr (count == 1) {
      if (succeeded && frees(slot.name)) to.numbers.free(as_number(std::get<0>(all)));
    }
    line.key("result");
    write_value(to, line, result);
    write_line(to, line);
  }

  /// Blocks and handles that this call made.
  static void remember(Process& to, const Slot& slot, const Arguments& all) {
    [&]<std::size_t... at>(std::index_sequence<at...>) {
      (remember_at<at>(to, slot, all), ...);
    }
    (std::make_index_sequence<count>());
    if constexpr (count == 3) {
      using Last = std::tuple_element_t<2, Arguments>;
      if constexpr (std::is_same_v<Last, const char*>) {
        if (slot.name.ends_with("ModuleGetFunction") && std::get<2>(all) == delay_kernel)
          to.delays.insert(as_number(*std::get<0>(all)));
      }
    }
  }

  template <std::size_t at>
  static void remember_at(Process& to, const Slot& slot, const Arguments& all) {
    using T = std::tuple_element_t<at, Arguments>;
    if constexpr (is_handle<std::remove_pointer_t<T>> && std::is_pointer_v<T>) {
      if (slot.roles[at] != Role::Result || std::get<at>(all) == nullptr) return;
      const std::uint64_t value = as_number(*std::get<at>(all));
      to.numbers.store(value, makes_new(slot.name));
      if constexpr (at + 1 < count) {
        if constexpr (std::is_same_v<std::tuple_element_t<at + 1, Arguments>, std::size_t>)
          to.numbers.store_block(value, std::get<at + 1>(all));
      }
    }
  }

  static void write_alignment(Line& line, const Slot& slot, const Arguments& all) {
    if constexpr (count >= 2) {
      using First = std::tuple_element_t<0, Arguments>;
      if constexpr (std::is_same_v<std::tuple_element_t<1, Arguments>, std::size_t> &&
                    (std::is_same_v<First, void**> || std::is_same_v<First, Address*>)) {
        if (slot.roles[0] != Role::Result) return;
        const std::uint64_t value = as_number(*std::get<0>(all));
        line.key("alignment");
        line.number(value & (~value + 1));
      }
    }
  }

  template <std::size_t at>
  static void write_argument(Process& to, Line& line, const Slot& slot, const Arguments& all,
                             std::uint64_t given, bool succeeded) {
    using T = std::tuple_element_t<at, Arguments>;
    const T& value = std::get<at>(all);
    const Role as = slot.roles[at];
    if constexpr (!std::is_pointer_v<T>) {
      if (as == Role::Pointer)
        return to.numbers.write(line, as_number(value), takes_memory(slot.name, at));
      line.number(value);
    } else {
      if (value == nullptr || as == Role::Ignored) return line.raw("null");
      if (as == Role::Pointer || as == Role::Code)
        return to.numbers.write(line, as_number(value), takes_memory(slot.name, at));
      if (as == Role::Given) return to.numbers.write(line, given);
      if constexpr (std::is_same_v<T, const void*>) {  // Role::Image
        write_image(to, line, value);
      } else if constexpr (std::is_same_v<T, const char*>) {
        if (as == Role::Image) return write_image(to, line, value);
        line.string(value);
      } else if constexpr (std::is_same_v<T, char*>) {  // Role::Name
        line.raw("[");
        succeeded ? line.string(value) : line.raw("null");
        line.raw("]");
      } else if constexpr (std::is_same_v<T, void*>) {  // Role::Answer or Role::Struct
        if (as == Role::Struct) return line.raw("[]");
        line.raw("[");
        succeeded ? line.number(*static_cast<unsigned*>(value)) : line.raw("null");
        line.raw("]");
      } else {
        if constexpr (at > 0) {
          using Before = std::tuple_element_t<at - 1, Arguments>;
          if constexpr (std::is_same_v<Before, int> && std::is_same_v<T, const char**>) {
            if (as == Role::Texts) return write_texts(line, value, std::get<at - 1>(all));
          }
        }
        if constexpr (std::is_same_v<T, void**>) {
          if (as == Role::Parameters) {
            const bool is_delay = to.delays.contains(as_number(std::get<0>(all)));
            return write_parameters(to, line, is_delay, slot.name.starts_with("hip"), value);
          }
        }
        if constexpr (count == 4 && std::is_same_v<std::tuple_element_t<0, Arguments>, unsigned>) {
          if (as == Role::Attributes || as == Role::Values)
            return write_attributes(line, all, as == Role::Values, succeeded);
        }
        line.raw("[");
        succeeded ? write_value(to, line, *value) : line.raw("null");
        line.raw("]");
      }
    }
  }

  static void write_texts(Line& line, const char** texts, int many) {
    line.raw("[");
    for (int i = 0; i < many; ++i) {
      if (i != 0) line.raw(",");
      line.string(texts[i]);
    }
    line.raw("]");
  }

  /// Of answers those of the attributes with 32 bits that dlbench asks for.
  static void write_attributes(Line& line, const Arguments& all, bool answers, bool succeeded) {
    line.raw("[");
    for (unsigned i = 0; i < std::get<0>(all); ++i) {
      if (i != 0) line.raw(",");
      int attribute = 0;
      std::memcpy(&attribute, std::get<1>(all) + i, sizeof attribute);
      if (!answers) {
        line.number(attribute);
        continue;
      }
      if constexpr (std::is_same_v<std::tuple_element_t<2, Arguments>, void**>) {
        const bool known =
            attribute == device::cuda::memory_type || attribute == device::cuda::is_managed;
        const void* const answer = std::get<2>(all)[i];
        succeeded&& known ? line.number(*static_cast<const unsigned*>(answer)) : line.raw("null");
      }
    }
    line.raw("]");
  }
};

/// What a driver exports under a name with a version for a prototype that dlbench has: cuda.h maps
/// the plain name to it, and the plain export is an older one.
constexpr std::string_view renamed[] = {"cuMemAlloc", "cuMemFree", "cuStreamDestroy",
                                        "cuEventDestroy", "cuDeviceGetUuid"};

template <typename Api>
void* hook_of(std::string_view listed, const std::string& written, void* real) {
  void* hook = nullptr;
  Api api;
  each(api, [&](const char* name, auto& function) {
    if (listed == name)
      hook = Hooks<std::remove_reference_t<decltype(function)>>::hook_for(written, real);
  });
  return hook;
}

// ---- cuGetProcAddress -------------------------------------------------------------------------

using GetV1 = Code (*)(const char*, void**, int, unsigned long long);
using GetV2 = Code (*)(const char*, void**, int, unsigned long long, int*);

GetV1 real_get_v1 = nullptr;
GetV2 real_get_v2 = nullptr;

constexpr unsigned long long per_thread_stream =
    2;  // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
constexpr int second_form_since = 12000;

Code send_request(const char* name, void** function, int version, unsigned long long flags) {
  if (real_get_v1 != nullptr) return real_get_v1(name, function, version, flags);
  return real_get_v2(name, function, version, flags, nullptr);
}

Code get_v1(const char* name, void** function, int version, unsigned long long flags);
Code get_v2(const char* name, void** function, int version, unsigned long long flags, int* status);

/// Ours for what the driver gave out; nullptr where its prototype is not known to be dlbench's: it
/// is, where the driver gives out the same address for the version of these prototypes.
void* recorded(const std::string& name, void* given, int version, unsigned long long flags) {
  if (name == "cuGetProcAddress") {
    if (version < second_form_since) {
      if (real_get_v1 == nullptr) real_get_v1 = reinterpret_cast<GetV1>(given);
      return reinterpret_cast<void*>(&get_v1);
    }
    if (real_get_v2 == nullptr) real_get_v2 = reinterpret_cast<GetV2>(given);
    return reinterpret_cast<void*>(&get_v2);
  }
  void* ours = nullptr;
  if (send_request(name.c_str(), &ours, device::cuda::api_version, flags) != 0 || ours != given)
    return nullptr;
  void* legacy = nullptr;
  std::string written = name;
  if ((flags & per_thread_stream) != 0 &&
      send_request(name.c_str(), &legacy, device::cuda::api_version, 0) == 0 && legacy != given) {
    written += "_ptsz";
  }
  return hook_of<device::cuda::Api>(name, written, given);
}

void write_get(const char* call, const char* name, void** function, int version,
               unsigned long long flags, int* status, Code result, std::int64_t begin,
               std::int64_t end) {
  const bool given = result == 0 && function != nullptr && *function != nullptr;
  const Lock lock(lock_flag);
  Process& to = process();
  void* const hook = given ? recorded(name, *function, version, flags) : nullptr;
  Line line;
  begin_call(line, to, call, begin, end);
  line.string(name);
  line.raw(given ? ",[true]," : ",[false],");
  line.number(version);
  line.raw(",");
  line.number(flags);
  if (std::string_view(call).ends_with("_v2")) {
    line.raw(",");
    if (status != nullptr) {
      line.raw("[");
      line.number(*status);
      line.raw("]");
    } else {
      line.raw("null");
    }
  }
  line.raw("]");
  line.key("recorded");
  line.raw(hook != nullptr ? "true" : "false");
  line.key("result");
  line.number(result);
  write_line(to, line);
  if (hook != nullptr) *function = hook;
}

Code get_v1(const char* name, void** function, int version, unsigned long long flags) {
  const std::int64_t begin = now();
  const Code result = real_get_v1(name, function, version, flags);
  write_get("cuGetProcAddress", name, function, version, flags, nullptr, result, begin, now());
  return result;
}

Code get_v2(const char* name, void** function, int version, unsigned long long flags, int* status) {
  const std::int64_t begin = now();
  const Code result = real_get_v2(name, function, version, flags, status);
  write_get("cuGetProcAddress_v2", name, function, version, flags, status, result, begin, now());
  return result;
}

// ---- binding by name --------------------------------------------------------------------------

enum Vendor : std::uintptr_t { none = 0, cuda = 1, hip = 2 };

Vendor vendor_of(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (file.starts_with("libcuda.so")) return cuda;
  if (file.starts_with("libamdhip64") || file.starts_with("libhiprtc.so")) return hip;
  // Wheels bring libraries under names of their own.
  return file.starts_with("libhiprtc-") ? hip : none;
}

void* bind_cuda(std::string_view symbol, void* real) {
  if (symbol == "cuGetProcAddress") {
    real_get_v1 = reinterpret_cast<GetV1>(real);
    return reinterpret_cast<void*>(&get_v1);
  }
  if (symbol == "cuGetProcAddress_v2") {
    real_get_v2 = reinterpret_cast<GetV2>(real);
    return reinterpret_cast<void*>(&get_v2);
  }
  std::string_view listed = symbol;
  std::string written(symbol);
  for (const std::string_view per_thread : {"_ptsz", "_ptds"}) {
    if (!listed.ends_with(per_thread)) continue;
    listed.remove_suffix(per_thread.size());
    written = std::string(listed) + "_ptsz";
  }
  for (const std::string_view name : renamed) {
    if (listed == name) return nullptr;
    if (listed.starts_with(name) && listed.substr(name.size()) == "_v2") {
      listed = name;
      written = name;
    }
  }
  return hook_of<device::cuda::Api>(listed, written, real);
}

void* bind_hip(std::string_view symbol, void* real) {
  const std::string written(symbol);
  void* const hook = hook_of<device::hip::Api>(symbol, written, real);
  return hook != nullptr ? hook : hook_of<device::hip::Compiler>(symbol, written, real);
}

std::uintptr_t bind(Vendor vendor, std::string_view symbol, std::uintptr_t address) {
  auto* const real = reinterpret_cast<void*>(address);
  const Lock lock(lock_flag);
  void* const hook = vendor == cuda ? bind_cuda(symbol, real) : bind_hip(symbol, real);
  if (hook != nullptr) return reinterpret_cast<std::uintptr_t>(hook);
  Process& to = process();
  if (to.unrecorded.emplace(symbol).second) {
    Line line;
    line.key("unrecorded");
    line.string(symbol);
    write_line(to, line);
  }
  return address;
}

}  // namespace

}  // namespace dlbench::recorder

#define AUDIT extern "C" __attribute__((visibility("default")))

AUDIT unsigned la_version(unsigned version) {
  return version < LAV_CURRENT ? version : LAV_CURRENT;
}

AUDIT unsigned la_objopen(link_map* object, Lmid_t, std::uintptr_t* cookie) {
  using namespace dlbench::recorder;
  *cookie = none;
  // To refuse in la_version would be simpler, but glibc 2.36 aborts there.
  if (folder() == nullptr) return 0;
  const Vendor vendor = vendor_of(object->l_name);
  *cookie = vendor;
  if (vendor == none) return LA_FLG_BINDFROM;
  const Lock lock(lock_flag);
  Process& to = process();
  Line line;
  line.key("library");
  line.string(object->l_name);
  write_line(to, line);
  return LA_FLG_BINDFROM | LA_FLG_BINDTO;
}

AUDIT std::uintptr_t la_symbind64(Elf64_Sym* symbol, unsigned, std::uintptr_t* from,
                                  std::uintptr_t* to, unsigned* flags, const char* name) {
  using namespace dlbench::recorder;
  *flags |= LA_SYMB_NOPLTENTER | LA_SYMB_NOPLTEXIT;
  // What the vendor's libraries call among themselves is not the caller's.
  if (*to == none || *from != none || ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
    return symbol->st_value;
  return bind(static_cast<Vendor>(*to), name, symbol->st_value);
}
