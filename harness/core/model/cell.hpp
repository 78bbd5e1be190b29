#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/names.hpp"

namespace dlbench {

/// One exchange: its producer, consumer, protocol and array. It has every axis of a cell except
/// phase, clock and machine.
struct Exchange {
  std::string environment = "default";
  std::string producer;
  std::string consumer;
  std::string protocol;
  std::string device = "cpu";     ///< two devices are "cuda:0+cpu"
  std::string case_name = "f32";  ///< JSON key `case`
  std::uint64_t bytes = 4096;     ///< of the array's elements
  std::uint64_t arrays = 1;       ///< passed in one exchange; other than 1 only by `call`

  auto operator<=>(const Exchange&) const = default;
};

/// The axes that identify one recorded result.
struct Cell {
  Exchange exchange;
  std::string phase = "exchange";
  std::string clock = "call";
  std::string machine{};  ///< empty but in a document of several machines

  auto operator<=>(const Cell&) const = default;
};

/// Calls visit(JSON key, value) for each axis of an exchange. `visit` may change the values
/// of a non-const exchange.
template <typename AnyExchange, typename Visitor>
void each_axis_of_exchange(AnyExchange& exchange, Visitor&& visit) {
  visit("producer", exchange.producer);
  visit("consumer", exchange.consumer);
  visit("protocol", exchange.protocol);
  visit("device", exchange.device);
  visit("case", exchange.case_name);
  visit("bytes", exchange.bytes);
  visit("arrays", exchange.arrays);
  visit("environment", exchange.environment);
}

/// The same for all axes, in the order in which documents have them.
template <typename AnyCell, typename Visitor>
void each_axis(AnyCell& cell, Visitor&& visit) {
  visit("phase", cell.phase);
  visit("clock", cell.clock);
  each_axis_of_exchange(cell.exchange, visit);
  visit("machine", cell.machine);
}

/// "exchange/producer:numpy/consumer:torch/protocol:dlpack/device:cpu/case:f32/bytes:4096".
/// "/arrays:x", "/clock:x", "/environment:x" and "/machine:x" are appended unless they are 1,
/// `call`, `default` and empty.
std::string name(const Cell& cell);

/// The inverse of name(). Throws UsageError naming the part that does not fit.
Cell cell_from_name(std::string_view text);

}  // namespace dlbench
