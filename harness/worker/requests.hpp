#pragma once

#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "worker/exchange/prepared.hpp"

namespace dlbench::worker {

/// Handles the requests to a worker (docs/internals.md, "The wire"). Owns the loaded adapters and
/// the prepared exchanges.
class Requests {
 public:
  /// `step` receives each step before it is carried out.
  explicit Requests(Announce step) : step_(std::move(step)) {}

  /// Returns the content of the "ok" reply. Throws Failure, and nlohmann's exceptions if the form
  /// of the request is wrong.
  nlohmann::json answer(const std::string& verb, const nlohmann::json& request);

  /// The exchange with the request's id, or null.
  Prepared* find(const nlohmann::json& request) const;

 private:
  using json = nlohmann::json;
  using Verb = json (Requests::*)(const json& request);
  static const std::map<std::string, Verb>& verbs();

  json load(const json& request);
  json floors(const json& request);
  json copy_floors(const json& request);
  json device_memory(const json& request);
  json offers(const json& request);
  json prepare(const json& request);
  json round(const json& request);
  json count(const json& request);
  json split(const json& request);
  json phases(const json& request);
  json judge(const json& request);
  json sync(const json& request);
  json capture(const json& request);
  json sync_trial(const json& request);
  json late_free(const json& request);
  json trace(const json& request);
  json profile(const json& request);
  json api_calls(const json& request);
  json drop(const json& request);

  /// Throws Failure if no exchange has that id.
  Prepared& at(const json& request);

  /// Replaces a failure by no-device if a device that was usable in this process is not any more.
  void explain_if_lost(Failure& failure, const std::string& device) const;

  Announce step_;
  Adapters adapters_;
  Arrays arrays_;
  std::map<int, std::unique_ptr<Prepared>> prepared_;
  std::set<std::string> usable_;  ///< devices that were usable
  bool frozen_ = false;
};

}  // namespace dlbench::worker
