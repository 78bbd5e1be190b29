#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "model/names.hpp"
#include "trace/range.hpp"

namespace dlbench::trace {

/// A kind of call of the CUDA driver; in the order of `kApiKinds`.
enum class ApiKind : std::uint8_t { memcpy, memset, alloc, free, event, query, wait, sync, launch };

/// Number of calls of each kind, in the order of kApiKinds.
using ApiCounts = std::array<std::uint64_t, kApiKinds.size()>;

/// Counts this process's calls of the CUDA driver, from any library, with CUPTI's callbacks for the
/// calls in `api_calls.def`. It occupies CUPTI's only subscriber slot, so use it in a separate
/// process.
class ApiTrace {
 public:
  struct Opened {
    std::unique_ptr<ApiTrace> trace;  ///< null if calls cannot be counted
    std::string why_not;              ///< the reason for that, one line
  };

  /// `libraries`: candidate paths of CUPTI; the first that loads is used.
  static Opened open(const std::vector<std::string>& libraries);
  ~ApiTrace();
  ApiTrace(const ApiTrace&) = delete;
  ApiTrace& operator=(const ApiTrace&) = delete;

  /// Counts calls for that category until the end of its scope. Scopes may be nested; calls outside
  /// any scope are not counted.
  class Span {
   public:
    Span(ApiTrace& trace, Category category)
        : trace_(trace), before_(trace.now_.exchange(static_cast<std::uint32_t>(category))) {}
    ~Span() { trace_.now_ = before_; }
    Span(const Span&) = delete;
    Span& operator=(const Span&) = delete;

   private:
    ApiTrace& trace_;
    std::uint32_t before_;
  };

  ApiCounts counted(Category category) const;
  void clear();
  /// The file of the loaded CUPTI library.
  const std::string& library() const { return library_; }

 private:
  struct Cupti;
  explicit ApiTrace(std::unique_ptr<Cupti> cupti);
  static void called(void* self, int domain, std::uint32_t id, const void* data);

  static constexpr std::size_t kCategories = static_cast<std::size_t>(Category::worker) + 1;
  std::unique_ptr<Cupti> cupti_;
  std::string library_;
  void* subscriber_ = nullptr;
  std::atomic<std::uint32_t> now_{0};  // a Category, or 0
  std::array<std::array<std::atomic<std::uint64_t>, kApiKinds.size()>, kCategories> counts_{};
};

}  // namespace dlbench::trace
