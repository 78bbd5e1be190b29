#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>

namespace dlbench {

/// Protocols, in the order in which they are printed. `convert` is the consumer's general
/// conversion call, such as np.asarray; `observed.used` names the protocol that this call used.
/// `array_ufunc` and `array_function` are NumPy's dispatch protocols: a NumPy function is called on
/// the array itself.
inline constexpr std::array<std::string_view, 12> kProtocols{
    "dlpack",       "dlpack_legacy",  "dlpack_versioned",
    "dlpack_c",     "buffer",         "array_interface",
    "array_struct", "array",          "cuda_array_interface",
    "array_ufunc",  "array_function", "convert"};

/// Is the protocol a NumPy dispatch protocol? Its result is computed, not transferred.
constexpr bool is_dispatch(std::string_view protocol) {
  return protocol == "array_ufunc" || protocol == "array_function";
}

/// The timed parts of an exchange. `exchange` is the whole exchange in one call.
inline constexpr std::array<std::string_view, 5> kPhases{"exchange", "query", "export", "import",
                                                         "release"};

/// Kinds of CUDA driver calls that are counted. `query` does not wait, `wait` makes a stream wait,
/// `sync` blocks the host.
inline constexpr std::array<std::string_view, 9> kApiKinds{
    "memcpy", "memset", "alloc", "free", "event", "query", "wait", "sync", "launch"};

/// The entry of a consumer's PROTOCOLS that imports through `protocol`; empty if none does. It is
/// the entry of that name, `dlpack` for the two structs of DLPack, or `convert`. The call of
/// `convert` gets a proxy that offers only this protocol.
std::string_view call_for(std::string_view protocol, std::span<const std::string> offered);

/// The allowed name nearest to `wanted` by edit distance; empty if more than a third of the letters
/// differ.
std::string nearest(std::string_view wanted, std::span<const std::string> allowed);

/// " (did you mean 'x'?)" with the nearest allowed name, or empty if no name is near.
std::string did_you_mean(std::string_view wanted, std::span<const std::string> allowed);

/// Throws UsageError "unknown WHAT 'wanted' (did you mean 'x'?); allowed: ..." unless `wanted` is
/// allowed.
void require_known(std::string_view what, std::string_view wanted,
                   std::span<const std::string> allowed);

}  // namespace dlbench
