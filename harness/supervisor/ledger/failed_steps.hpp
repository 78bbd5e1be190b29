#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "model/cell.hpp"
#include "supervisor/process/death.hpp"

namespace dlbench::supervisor {

/// Failures that would repeat. Later cells inherit them without a worker.
class FailedSteps {
 public:
  /// Adds a library that cannot be imported alone. `role` is "producer" or "consumer".
  void import_failed(const std::string& environment, const std::string& library,
                     const std::string& role, const Failure& failure);
  bool has_failed_import(const std::string& environment, const std::string& library,
                         const std::string& role) const;

  /// Adds a producer that ended the worker while it made an array: applies to all consumers.
  void make_failed(const Exchange& exchange, const Failure& failure);

  /// Adds an exchange that timed out. Larger sizes inherit this. After two cases of a pair timed
  /// out with a protocol and a device, its other cases are not tried.
  void timed_out(const Exchange& exchange, const Failure& failure);

  /// Adds a device that was lost. Its exchanges inherit this, so that all have one reason.
  void device_lost(const std::string& device, const Failure& failure);

  std::optional<Failure> of(const Exchange& exchange) const;

 private:
  using Library = std::tuple<std::string, std::string, std::string>;
  using Maker = std::tuple<std::string, std::string, std::string, std::string>;
  struct Slow {
    std::uint64_t bytes;
    Failure failure;
  };

  static Maker maker(const Exchange& exchange);
  static Exchange sizeless(const Exchange& exchange);
  static Exchange caseless(const Exchange& exchange);
  static void keep_smallest(Slow& slow, std::uint64_t bytes, const Failure& failure);

  std::map<std::string, Failure> lost_;  ///< by device
  std::map<Library, Failure> imports_;
  std::map<std::pair<Maker, std::uint64_t>, Failure> makes_;
  std::map<Maker, Slow> slow_makes_;
  std::map<Exchange, Slow> slow_;
  std::map<Exchange, std::set<std::string>> slow_cases_;  ///< of a caseless exchange
};

}  // namespace dlbench::supervisor
