#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "worker/library/import_call.hpp"
#include "worker/proxy/patched_type.hpp"
#include "worker/proxy/proxy.hpp"

namespace dlbench::worker {

/// The object that a consumer gets while a replay answers for the array, chosen so that the
/// consumer makes the same requests as to the array.
class ReplaySource {
 public:
  enum class Way {
    proxy,    ///< a proxy that offers the same protocols
    type,     ///< the array itself, with the methods of its type patched
    capsule,  ///< no object: the consumer imports the capsule
  };

  /// `forwarded`: the exchange also uses a proxy, so both include its cost. Throws Failure if the
  /// consumer makes other requests to a proxy than to the array.
  ReplaySource(ImportCall& import_call, PyObject* array, Shown shown, const Recording& recording,
               bool forwarded);

  Way way() const { return way_; }
  /// "proxy", "type" or "capsule".
  std::string name() const;
  Replay& replay() { return *replay_; }
  const Recording& recording() const { return replay_->recording(); }

  /// Runs the consumer's half of an exchange, after all requests were played. Returns a new
  /// reference, or null with an exception set.
  PyObject* import(PyObject* array) {
    switch (way_) {
      case Way::proxy:
        return import_call_(proxy_->get());
      case Way::type:
        return import_call_(array);
      case Way::capsule:
        break;
    }
    PyObject* capsule = replay_->replay_export(recording().front().name);
    PyObject* result = capsule == nullptr ? nullptr : import_call_.import_capsule(capsule);
    Py_XDECREF(capsule);
    return result;
  }

  /// Patches the type if necessary. It must be alive during import().
  PatchedType::Scope scope();

  /// Makes request `i` to the replaying proxy as a consumer does. Returns 0, or -1 with an
  /// exception set, which is expected if the recorded request raised.
  int send_request(std::size_t i);
  /// Does a request to the replaying proxy have a cost that the exchange itself does not have?
  bool has_floor() const { return way_ != Way::capsule && !forwarded_; }

 private:
  ImportCall& import_call_;
  bool forwarded_;
  Way way_ = Way::proxy;
  std::optional<PatchedType> patched_;
  std::unique_ptr<Replay> replay_;
  std::optional<ReplayingProxy> proxy_;
  const DLPackExchangeAPI* api_ = nullptr;      // of the proxy's type; may be null
  std::vector<std::vector<PyObject*>> stacks_;  // as in Replay
};

}  // namespace dlbench::worker
