#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace dlbench {

/// A list of words is an enumeration and, in the same order, their spellings. A word compares with
/// a value of its enumeration: `cell.clock == Clock::device`.

/// Protocols, in the order in which they are printed. `convert` is the consumer's general
/// conversion call, such as np.asarray; `observed.used` names the protocol that this call used.
/// `array_ufunc` and `array_function` are NumPy's dispatch protocols: a NumPy function is called on
/// the array itself. `call` passes arrays to a function of the consumer's, which returns nothing.
enum class Protocol {
  dlpack,
  dlpack_legacy,
  dlpack_versioned,
  dlpack_c,
  buffer,
  array_interface,
  array_struct,
  array,
  cuda_array_interface,
  array_ufunc,
  array_function,
  call,
  convert
};
inline constexpr std::array<std::string_view, 13> kProtocols{
    "dlpack",       "dlpack_legacy",  "dlpack_versioned",
    "dlpack_c",     "buffer",         "array_interface",
    "array_struct", "array",          "cuda_array_interface",
    "array_ufunc",  "array_function", "call",
    "convert"};

/// The timed parts of an exchange. `exchange` is the whole exchange in one call.
enum class Phase { exchange, query, export_, import, release };
inline constexpr std::array<std::string_view, 5> kPhases{"exchange", "query", "export", "import",
                                                         "release"};

/// The end of a time: the call's return, when its content is there, or the work of the device
/// alone.
enum class Clock { call, ready, device };
inline constexpr std::array<std::string_view, 3> kClocks{"call", "ready", "device"};

constexpr bool operator==(std::string_view word, Protocol protocol) {
  return word == kProtocols[static_cast<std::size_t>(protocol)];
}
constexpr bool operator==(std::string_view word, Phase phase) {
  return word == kPhases[static_cast<std::size_t>(phase)];
}
constexpr bool operator==(std::string_view word, Clock clock) {
  return word == kClocks[static_cast<std::size_t>(clock)];
}

static_assert("convert" == Protocol::convert && "array" == Protocol::array);
static_assert("release" == Phase::release && "device" == Clock::device);

/// Is the protocol a NumPy dispatch protocol? Its result is computed, not transferred.
constexpr bool is_dispatch(std::string_view protocol) {
  return protocol == Protocol::array_ufunc || protocol == Protocol::array_function;
}

/// Kinds of CUDA driver calls that are counted. `query` does not wait, `wait` makes a stream wait,
/// `sync` blocks the host.
inline constexpr std::array<std::string_view, 9> kApiKinds{
    "memcpy", "memset", "alloc", "free", "event", "query", "wait", "sync", "launch"};

/// The most arrays of one call (the axis `arrays`).
inline constexpr std::uint64_t kMostCallArrays = 64;

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
