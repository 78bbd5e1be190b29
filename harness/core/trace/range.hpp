#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

namespace dlbench::trace {

/// The kind of a range: NVTX's category, and `cat` in a Chrome trace.
enum class Category : std::uint32_t {
  cell = 1,  ///< all work for one cell
  exchange,
  phases,  ///< an exchange split into its phases
  query,
  export_,
  import_,
  release,
  ready,   ///< the consumer's wait for its data
  sync,    ///< a test of synchronization
  worker,  ///< a request to a worker, and each of its steps
};

/// "cell", "exchange", ..., "export", "import", ...
std::string_view name_of(Category) noexcept;

/// The category of a phase of the document: "query", "export", "import", "release".
Category category_of(std::string_view phase) noexcept;

/// The name of a range: one object for each text and category, registered with the attached tool.
/// Lives as long as the process.
class Name {
 public:
  const std::string& text() const { return text_; }
  Category category() const { return category_; }
  /// The tool's handle for the text; null without a tool.
  void* handle() const { return handle_; }

 private:
  friend const Name& named(std::string_view text, Category category);
  Name(std::string_view text, Category category);

  std::string text_;
  Category category_;
  void* handle_ = nullptr;
};

/// Looks the name up. The first name of a process also attaches the tool that the environment
/// specifies (NVTX_INJECTION64_PATH), if any.
const Name& named(std::string_view text, Category category);

namespace detail {

inline constexpr unsigned kNvtx = 1;
inline constexpr unsigned kRoctx = 2;
inline constexpr unsigned kRecorder = 4;

/// The active sinks. Without one, a range costs one read of this variable.
inline std::atomic<unsigned> open{0};

}  // namespace detail

/// Is any sink active?
inline bool is_open() {
  return detail::open.load(std::memory_order_relaxed) != 0;
}

/// A range until the end of its scope, on the calling thread. Never used inside timed code.
class Range {
 public:
  explicit Range(const Name& name, std::uint64_t bytes = 0)
      : sinks_(detail::open.load(std::memory_order_relaxed)) {
    if (sinks_ != 0) [[unlikely]]
      begin(name, bytes);
  }
  /// Looks the name up only if a sink is active.
  Range(std::string_view text, Category category, std::uint64_t bytes = 0)
      : sinks_(detail::open.load(std::memory_order_relaxed)) {
    if (sinks_ != 0) [[unlikely]]
      begin(named(text, category), bytes);
  }
  ~Range() {
    if (sinks_ != 0) [[unlikely]]
      end();
  }
  Range(const Range&) = delete;
  Range& operator=(const Range&) = delete;

 private:
  void begin(const Name& name, std::uint64_t bytes);
  void end();

  unsigned sinks_;  // the sinks when it began, which also receive its end
  const Name* name_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::int64_t begin_ns_ = 0;
};

}  // namespace dlbench::trace
