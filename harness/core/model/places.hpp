#pragma once

#include <string>

#include "model/cell.hpp"

namespace dlbench {

/// The device of the producer's array. It differs from target_of() only for two devices, such as
/// "cuda:0+cpu".
inline std::string source_of(const Exchange& exchange) {
  return exchange.device.substr(0, exchange.device.find('+'));
}
inline std::string target_of(const Exchange& exchange) {
  return exchange.device.substr(exchange.device.find('+') + 1);
}
inline bool crosses_devices(const Exchange& exchange) {
  return exchange.device.find('+') != std::string::npos;
}

/// "cuda:0" -> "cuda".
inline std::string kind_of_device(const std::string& device) {
  return device.substr(0, device.find(':'));
}

}  // namespace dlbench
