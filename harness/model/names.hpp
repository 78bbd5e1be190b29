#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace dlbench {

/// Protocols, in the order in which they are printed. `convert` is the consumer's general
/// conversion call (np.asarray and the like); `seen.used` names the protocol that it used.
/// `array_ufunc` and `array_function` are NumPy's dispatch: its functions on the array itself.
inline constexpr std::array<std::string_view, 12> kProtocols{
    "dlpack",       "dlpack_legacy",  "dlpack_versioned",
    "dlpack_c",     "buffer",         "array_interface",
    "array_struct", "array",          "cuda_array_interface",
    "array_ufunc",  "array_function", "convert"};

/// Is it NumPy's dispatch? The result is computed, not transferred.
constexpr bool is_dispatch(std::string_view protocol) {
  return protocol == "array_ufunc" || protocol == "array_function";
}

/// The timed part of an exchange. `exchange` is all of it in one call.
inline constexpr std::array<std::string_view, 5> kPhases{"exchange", "query", "export", "import",
                                                         "release"};

/// Kinds of CUDA driver calls that are counted: `query` does not wait, `wait` is put on a stream,
/// `sync` blocks the host.
inline constexpr std::array<std::string_view, 9> kApiKinds{
    "memcpy", "memset", "alloc", "free", "event", "query", "wait", "sync", "launch"};

/// The entry of a consumer's PROTOCOLS for this protocol: the same name; `dlpack` for the two
/// structs of DLPack; `convert`, with a proxy that offers this protocol only, for a protocol that
/// only conversion calls use. Empty if it has none.
std::string_view call_for(std::string_view protocol, std::span<const std::string> offered);

/// The allowed name nearest to `wanted` by edit distance, or empty where none is near
/// (more than a third of the letters differ).
std::string nearest(std::string_view wanted, std::span<const std::string> allowed);

/// " (did you mean 'x'?)" with the nearest allowed name, or empty if no name is near.
std::string did_you_mean(std::string_view wanted, std::span<const std::string> allowed);

/// Throws UsageError "unknown WHAT 'wanted' (did you mean 'x'?); allowed: ..." unless it is
/// allowed.
void require_known(std::string_view what, std::string_view wanted,
                   std::span<const std::string> allowed);

}  // namespace dlbench
