// Calls a driver as a trace says, in the trace's order, and prints where the driver found here
// (in tests: the fake one) does something else.
//
//   replay TRACE [--values all|NAME,NAME...]
//
// Compared are the results, what is null and what is not, whether cuGetProcAddress has a function,
// and that a block is aligned as much as the trace's; with --values also the numbers and texts that
// these functions store. Ends with 1 where there is a difference, with 2 where nothing was
// replayed.
#include <dlfcn.h>
#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <future>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "device/kernels.hpp"
#include "device/vendors/cuda_api.hpp"
#include "device/vendors/hip_api.hpp"
#include "roles.hpp"

namespace dlbench::recorder {

namespace {

using device::Address;
using device::Code;
using nlohmann::json;

/// Why a call cannot be replayed; no difference.
struct Skipped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One for each thread of the trace: a driver's current context is its thread's.
class Thread {
 public:
  Thread() : thread_([this] { work(); }) {}
  ~Thread() {
    give({});
    thread_.join();
  }
  Thread(const Thread&) = delete;
  Thread& operator=(const Thread&) = delete;

  /// Returns when the task has ended; raises what it raised.
  void run(const std::function<void()>& task) {
    std::packaged_task<void()> packed(task);
    auto ended = packed.get_future();
    give(std::move(packed));
    ended.get();
  }

 private:
  void give(std::packaged_task<void()> task) {
    {
      const std::lock_guard lock(mutex_);
      next_ = std::move(task);
    }
    given_.notify_one();
  }

  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      given_.wait(lock, [this] { return next_.has_value(); });
      auto task = std::move(*next_);
      next_.reset();
      lock.unlock();
      if (!task.valid()) return;
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable given_;
  std::optional<std::packaged_task<void()>> next_;
  std::thread thread_;
};

/// What the trace's handles are here.
class Handles {
 public:
  Handles() {
    // Memory that the trace does not know of: the program's own, from which or to which it copied.
    elsewhere_ = mmap(nullptr, elsewhere_bytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (elsewhere_ == MAP_FAILED) throw std::runtime_error("no memory for copies");
  }
  ~Handles() { munmap(elsewhere_, elsewhere_bytes); }
  Handles(const Handles&) = delete;
  Handles& operator=(const Handles&) = delete;

  std::uint64_t find(const json& written, bool is_memory) const {
    if (written.is_null()) return 0;
    if (written.is_number()) return static_cast<std::uint64_t>(written.get<std::int64_t>());
    const auto text = written.get<std::string>();
    const auto plus = text.find('+');
    const auto known = here_.find(text.substr(0, plus));
    if (known != here_.end())
      return known->second + (plus == std::string::npos ? 0 : std::stoull(text.substr(plus + 1)));
    if (is_memory && text[0] == 'p') return reinterpret_cast<std::uintptr_t>(elsewhere_);
    throw Skipped("no recorded function made " + text);
  }

  void set(const std::string& name, std::uint64_t value) { here_[name] = value; }

  /// An event that the trace recorded by a call that was not replayed, until it is recorded again.
  void set_stale(const json& event, bool is_stale) {
    if (!event.is_string()) return;
    is_stale ? void(stale_.insert(event)) : void(stale_.erase(event));
  }
  bool is_stale(const json& written) const {
    return written.is_string() && stale_.contains(written.get<std::string>());
  }

  static constexpr std::size_t elsewhere_bytes = std::size_t{8} << 30;

 private:
  std::map<std::string, std::uint64_t> here_;
  std::set<std::string> stale_;
  void* elsewhere_ = nullptr;
};

struct Options {
  bool all_values = false;
  std::set<std::string> values;

  bool compares(const std::string& call) const { return all_values || values.contains(call); }
};

bool records_event(const std::string& call) {
  return call == "cuEventRecord" || call == "hipEventRecord";
}

/// A call of the trace as it goes on here.
class Call {
 public:
  Call(const json& line, Handles& handles, const Options& options)
      : name(line.at("call")),
        arguments(line.at("arguments")),
        line_(line),
        handles_(handles),
        values_(options.compares(name)) {}

  const std::string name;
  const json arguments;
  std::vector<std::string> differences;

  template <typename... A>
  void play(Code (*function)(A...)) {
    auto all = decode<A...>();
    const Code wanted = line_.at("result").get<Code>();
    Code code = std::apply(function, all);
    // What was over in the trace may take longer here; what follows in the trace relies on it.
    const auto begin = std::chrono::steady_clock::now();
    while (wanted == 0 && code == device::not_ready &&
           std::chrono::steady_clock::now() - begin < longest_wait) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
      code = std::apply(function, all);
    }
    const bool is_sooner = wanted == device::not_ready && code == 0;
    if (code != wanted && !is_sooner) differ("result", wanted, code);
    if (code != 0 || wanted != 0) return;
    [&]<std::size_t... at>(std::index_sequence<at...>) {
      (compare<at, A>(std::get<at>(all)), ...);
    }
    (std::index_sequence_for<A...>());
  }

  template <typename... A>
  void play(const char* (*function)(A...)) {
    auto all = decode<A...>();
    const char* const text = std::apply(function, all);
    compare_value("result", line_.at("result"), text == nullptr ? json() : json(text));
  }

  void compare_entry(Code code, bool is_here) {
    const Code wanted = line_.at("result").get<Code>();
    const bool was_there = arguments.at(1).at(0).get<bool>();
    if (code != wanted) differ("result", wanted, code);
    if (is_here != was_there) differ("function", was_there, is_here);
  }

  void differ(const std::string& what, const json& trace, const json& here) {
    differences.push_back(what + ": the trace has " + trace.dump() + ", this driver " +
                          here.dump());
  }

 private:
  template <typename... A>
  std::tuple<A...> decode() {
    if (arguments.size() != sizeof...(A)) throw Skipped("another number of arguments");
    const bool renews = records_event(name) || name.find("Destroy") != std::string::npos;
    for (const json& written : arguments) {
      if (!renews && handles_.is_stale(written))
        throw Skipped("its event was recorded by a call that was not replayed");
    }
    return [&]<std::size_t... at>(std::index_sequence<at...>) {
      return std::tuple<A...>{read<A>(at, role<A>(name, at))...};
    }
    (std::index_sequence_for<A...>());
  }

  template <typename T>
  T read(std::size_t at, Role as) {
    const json& written = arguments.at(at);
    if constexpr (!std::is_pointer_v<T>) {
      if (as == Role::Pointer)
        return static_cast<T>(handles_.find(written, takes_memory(name, at)));
      return written.get<T>();
    } else {
      if (written.is_null() && as != Role::Parameters) return nullptr;
      switch (as) {
        case Role::Pointer:
          return place<T>(handles_.find(written, takes_memory(name, at)));
        case Role::Text:
          return store<T>(text_of(written.get<std::string>()));
        case Role::Image:
          if (written == "text: delay") {
            const auto& source = name.starts_with("hip") ? device::delay_hip : device::delay_ptx;
            return place<T>(number(source.data()));
          }
          if (written == "text") throw Skipped("its module is not the delay kernel's");
          return place<T>(handles_.find(written, false));
        case Role::Code: {
          T buffer = store<T>(std::vector<char>(code_bytes));
          // Kept: a module is loaded from it later.
          kept().push_back(std::move(stored_.back()));
          handles_.set(written.get<std::string>(), number(buffer));
          return buffer;
        }
        case Role::Name:
          return store<T>(std::vector<char>(name_bytes));
        case Role::Struct:
          return store<T>(std::vector<char>(device::hip::properties_size));
        case Role::Given:
          given_ = handles_.find(written, false);
          return place<T>(number(&given_));
        case Role::Attributes:
          return store<T>(bytes_of(written.get<std::vector<int>>()));
        case Role::Values: {
          std::vector<std::vector<char>> answers(written.size(), std::vector<char>(sizeof(void*)));
          return store_table<T>(std::move(answers));
        }
        case Role::Texts:
          return read_texts<T>(written);
        case Role::Parameters:
          return read_parameters<T>(written);
        case Role::Answer:
        case Role::Result:
          return store<T>(std::vector<char>(result_bytes));
        case Role::Number:
        case Role::Ignored:
          break;
      }
      return nullptr;
    }
  }

  template <typename T>
  T read_texts(const json& written) {
    std::vector<std::vector<char>> texts;
    for (const json& text : written) texts.push_back(text_of(text.get<std::string>()));
    return store_table<T>(std::move(texts));
  }

  template <typename T>
  T read_parameters(const json& written) {
    if (!written.is_array()) throw Skipped("its kernel is not the delay kernel");
    std::vector<std::vector<char>> parameters;
    for (std::size_t i = 0; i < written.size(); ++i) {
      const bool is_pointer = i == 1 || i == 2;
      parameters.push_back(bytes_of(std::vector<std::uint64_t>{
          is_pointer ? handles_.find(written[i], false)
                     : static_cast<std::uint64_t>(written[i].get<std::int64_t>())}));
    }
    return store_table<T>(std::move(parameters));
  }

  template <std::size_t at, typename T>
  void compare(const T& actual) {
    const json& written = arguments.at(at);
    const Role as = role<T>(name, at);
    const std::string what = "argument " + std::to_string(at + 1);
    if constexpr (std::is_same_v<T, char*>) {
      if (as == Role::Name) compare_value(what, written.at(0), json(std::string(actual)));
    } else if constexpr (std::is_same_v<T, void*>) {
      if (as == Role::Answer) compare_value(what, written.at(0), word_at(actual));
    } else if constexpr (std::is_pointer_v<T> && !std::is_const_v<std::remove_pointer_t<T>>) {
      if (actual == nullptr) return;
      if (as == Role::Values) {
        for (std::size_t i = 0; i < written.size(); ++i) {
          void* answer = nullptr;
          std::memcpy(&answer, reinterpret_cast<const char*>(actual) + i * sizeof answer,
                      sizeof answer);
          if (!written[i].is_null())
            compare_value(what + "[" + std::to_string(i) + "]", written[i], word_at(answer));
        }
      } else if (as == Role::Result) {
        compare_result<at>(what, written.at(0), *actual);
      }
    } else if constexpr (std::is_same_v<T, const char**>) {
      if (as == Role::Result && actual != nullptr)
        compare_value(what, written.at(0), *actual == nullptr ? json() : json(*actual));
    }
  }

  template <std::size_t at, typename T>
  void compare_result(const std::string& what, const json& written, const T& actual) {
    if constexpr (std::is_same_v<T, void*> || std::is_same_v<T, Address>) {
      std::uint64_t value = 0;
      std::memcpy(&value, &actual, sizeof value);
      if (written.is_null() != (value == 0)) {
        differ(what + (value == 0 ? " is null here" : " is null in the trace"), written,
               value == 0 ? json() : json("a handle"));
      }
      if (written.is_string() && value != 0) handles_.set(written.get<std::string>(), value);
      if (at == 0 && line_.contains("alignment") && value != 0) {
        // A page is what a driver promises at most; more is chance.
        const auto wanted = std::min(line_.at("alignment").get<std::uint64_t>(), most_alignment);
        const std::uint64_t aligned = value & (~value + 1);
        if (aligned < wanted) differ("alignment", wanted, aligned);
      }
    } else if constexpr (std::is_integral_v<T>) {  // a float is a time
      compare_value(what, written, json(actual));
    }
  }

  void compare_value(const std::string& what, const json& written, const json& actual) {
    if (values_ && written != actual) differ(what, written, actual);
  }

  static std::uint64_t number(const volatile void* place) {
    return reinterpret_cast<std::uintptr_t>(place);
  }

  template <typename T>
  static T place(std::uint64_t address) {
    T made = nullptr;
    std::memcpy(&made, &address, sizeof made);
    return made;
  }

  static json word_at(const void* place) {
    unsigned word = 0;
    std::memcpy(&word, place, sizeof word);
    return word;
  }

  static std::vector<char> text_of(const std::string& text) {
    return {text.c_str(), text.c_str() + text.size() + 1};
  }

  template <typename N>
  static std::vector<char> bytes_of(const std::vector<N>& numbers) {
    std::vector<char> bytes(numbers.size() * sizeof(N) + 1);
    std::memcpy(bytes.data(), numbers.data(), numbers.size() * sizeof(N));
    return bytes;
  }

  template <typename T>
  T store(std::vector<char> bytes) {
    if (bytes.empty()) bytes.resize(1);
    stored_.push_back(std::move(bytes));
    return place<T>(number(stored_.back().data()));
  }

  /// Pointers to each of these.
  template <typename T>
  T store_table(std::vector<std::vector<char>> all) {
    std::vector<std::uint64_t> table;
    for (std::vector<char>& bytes : all) table.push_back(number(store<char*>(std::move(bytes))));
    return store<T>(bytes_of(table));
  }

  static std::deque<std::vector<char>>& kept() {
    static std::deque<std::vector<char>> all;
    return all;
  }

  static constexpr std::chrono::seconds longest_wait{20};
  static constexpr std::size_t code_bytes = std::size_t{1} << 20;
  static constexpr std::size_t name_bytes = std::size_t{1} << 16;
  static constexpr std::size_t result_bytes = 64;
  static constexpr std::uint64_t most_alignment = 256;

  const json line_;
  Handles& handles_;
  const bool values_;
  std::deque<std::vector<char>> stored_;
  std::uint64_t given_ = 0;
};

/// The functions of the driver that is found here, by the names in the trace.
class Driver {
 public:
  using Play = std::function<void(Call&)>;

  Driver() {
    cuda_ = dlopen("libcuda.so.1", RTLD_LAZY);
    for (const char* name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
      if (hip_ == nullptr) hip_ = dlopen(name, RTLD_LAZY);
    }
    for (const char* name : {"libhiprtc.so.7", "libhiprtc.so.6", "libhiprtc.so.5"}) {
      if (hiprtc_ == nullptr) hiprtc_ = dlopen(name, RTLD_LAZY);
    }
    add_cuda();
    add<device::hip::Api>(hip_ != nullptr, [this](const char* name) { return symbol(hip_, name); });
    add<device::hip::Compiler>(hip_ != nullptr, [this](const char* name) {
      void* const found = symbol(hiprtc_, name);
      return found != nullptr ? found : symbol(hip_, name);
    });
  }

  const Play& find(const std::string& name) const {
    const auto found = plays_.find(name);
    if (found == plays_.end()) throw Skipped("dlbench has no prototype of " + name);
    return found->second;
  }

 private:
  static void* symbol(void* library, const char* name) {
    return library == nullptr ? nullptr : dlsym(library, name);
  }

  template <typename Api, typename Find>
  void add(bool has_driver, Find find) {
    static Api api;
    each(api, [&](const char* name, auto& function) {
      void* const address = find(name);
      std::memcpy(&function, &address, sizeof address);
      plays_[name] = [copy = function, has_driver](Call& call) {
        if (!has_driver) throw Skipped("no such driver here");
        if (copy == nullptr) return call.differ("function", true, false);
        call.play(copy);
      };
    });
  }

  void add_cuda() {
    using Get = Code (*)(const char*, void**, int, unsigned long long);
    using GetV2 = Code (*)(const char*, void**, int, unsigned long long, int*);
    const auto get = reinterpret_cast<Get>(symbol(cuda_, "cuGetProcAddress"));
    const auto get_v2 = reinterpret_cast<GetV2>(symbol(cuda_, "cuGetProcAddress_v2"));
    add<device::cuda::Api>(cuda_ != nullptr, [&](const char* name) {
      void* address = nullptr;
      const int version = device::cuda::api_version;
      return get != nullptr && get(name, &address, version, 0) == 0 ? address : nullptr;
    });
    std::set<std::string> known{"cuGetProcAddress"};
    device::cuda::Api api;
    each(api, [&](const char* name, auto&) { known.insert(name); });
    const auto send_request = [known](Call& call, auto&& asked) {
      const std::string name = call.arguments.at(0);
      if (!known.contains(name)) throw Skipped("of functions that dlbench does not call");
      void* address = nullptr;
      const Code code = asked(name.c_str(), &address, call.arguments.at(2).get<int>(),
                              call.arguments.at(3).get<unsigned long long>());
      call.compare_entry(code, address != nullptr);
    };
    plays_["cuGetProcAddress"] = [get, send_request](Call& call) {
      if (get == nullptr) throw Skipped("no such driver here");
      send_request(call, get);
    };
    plays_["cuGetProcAddress_v2"] = [cuda = cuda_, get_v2, send_request](Call& call) {
      if (cuda == nullptr) throw Skipped("no such driver here");
      if (get_v2 == nullptr) return call.differ("function", true, false);
      send_request(
          call, [get_v2](const char* name, void** address, int version, unsigned long long flags) {
            int status = 0;
            return get_v2(name, address, version, flags, &status);
          });
    };
  }

  void* cuda_ = nullptr;
  void* hip_ = nullptr;
  void* hiprtc_ = nullptr;
  std::map<std::string, Play> plays_;
};

struct Line {
  std::size_t number;
  json content;
};

std::vector<Line> read_calls(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error(path + ": cannot be read");
  std::vector<Line> calls;
  std::string text;
  for (std::size_t number = 1; std::getline(file, text); ++number) {
    // Behind the last line lie zero bytes where the process was killed.
    if (text.empty() || text[0] == '\0') break;
    json line = json::parse(text);
    if (number == 1 && line.value("trace", 0) != format_version) {
      throw std::runtime_error(path + ": no trace of version " + std::to_string(format_version));
    }
    if (line.contains("call")) calls.push_back({number, std::move(line)});
  }
  std::stable_sort(calls.begin(), calls.end(), [](const Line& a, const Line& b) {
    return a.content.at("at").get<std::int64_t>() < b.content.at("at").get<std::int64_t>();
  });
  return calls;
}

int replay(const std::string& path, const Options& options) {
  const Driver driver;
  Handles handles;
  std::map<int, std::unique_ptr<Thread>> threads;
  std::map<std::string, int> skipped;
  int replayed = 0;
  int differences = 0;
  for (const auto& [number, content] : read_calls(path)) {
    Call call(content, handles, options);
    auto& thread = threads[content.at("thread").get<int>()];
    if (!thread) thread = std::make_unique<Thread>();
    try {
      const auto& play = driver.find(call.name);
      thread->run([&] { play(call); });
      ++replayed;
      if (records_event(call.name)) handles.set_stale(call.arguments.at(0), false);
    } catch (const Skipped& reason) {
      if (records_event(call.name)) handles.set_stale(call.arguments.at(0), true);
      ++skipped[call.name + ": " + reason.what()];
    }
    for (const std::string& difference : call.differences)
      std::cout << "line " << number << ", " << call.name << ": " << difference << '\n';
    differences += static_cast<int>(call.differences.size());
  }
  for (const auto& [reason, times] : skipped)
    std::cout << "not replayed, " << times << " times: " << reason << '\n';
  std::cout << replayed << " calls replayed, " << differences << " differences\n";
  return differences != 0 ? 1 : replayed == 0 ? 2 : 0;
}

int run(const std::vector<std::string>& words) {
  Options options;
  std::optional<std::string> path;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--values" && i + 1 < words.size()) {
      std::istringstream names(words[++i]);
      for (std::string name; std::getline(names, name, ',');) options.values.insert(name);
      options.all_values = options.values.contains("all");
    } else if (!path) {
      path = words[i];
    } else {
      path.reset();
      break;
    }
  }
  if (!path) {
    std::cerr << "usage: replay TRACE [--values all|NAME,NAME...]\n";
    return 2;
  }
  return replay(*path, options);
}

}  // namespace

}  // namespace dlbench::recorder

int main(int count, char** words) {
  try {
    return dlbench::recorder::run({words + 1, words + count});
  } catch (const std::exception& error) {
    std::cerr << "replay: " << error.what() << '\n';
    return 2;
  }
}
