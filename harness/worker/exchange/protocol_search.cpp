#include "worker/exchange/protocol_search.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "model/codes.hpp"
#include "model/contains.hpp"
#include "worker/library/capsule.hpp"

namespace dlbench::worker {
namespace {

// Does the recorded call use the requested protocol?
bool fits(const std::string& requested, const Recorder& recorder) {
  if (requested == Protocol::convert || requested == recorder.used()) return true;
  if (recorder.used() != Protocol::dlpack) return false;
  return (requested == Protocol::dlpack_legacy && recorder.facts().struct_name == "legacy") ||
         (requested == Protocol::dlpack_versioned && recorder.facts().struct_name == "versioned");
}

bool has_version_request(const Recorder& recorder) {
  return std::any_of(recorder.recording().begin(), recorder.recording().end(),
                     [](const Request& call) { return call.passes("max_version"); });
}

// The reason why the requested protocol is not used. `direct`: how the consumer imports the array
// itself, if known. If the wrong DLPack struct was exported, the reason also shows whether the
// consumer requested a version. (The proxy of `dlpack_legacy` hides that request.)
std::string other_way(const std::string& requested, const std::string& direct,
                      const Recorder& recorder) {
  const bool is_struct =
      requested == Protocol::dlpack_legacy || requested == Protocol::dlpack_versioned;
  const std::string& struct_name = recorder.facts().struct_name;
  if (!is_struct || recorder.used() != Protocol::dlpack || struct_name.empty()) {
    if (direct.empty()) return "the consumer does not request " + requested;
    return "the consumer imports through " + direct + ", not " + requested;
  }
  const bool is_requested =
      requested == Protocol::dlpack_versioned && has_version_request(recorder);
  return std::string("the consumer requested ") + (is_requested ? "a" : "no") +
         " version, and the producer exported a " + struct_name + " struct";
}

Observation observe_through(const Recorder& recorder, const char* via) {
  const CapsuleFacts& facts = recorder.facts();
  return {recorder.used().empty() ? "own" : recorder.used(),
          via,
          recorder.calls(),
          facts.struct_name,
          facts.version,
          facts.flags,
          {}};
}

}  // namespace

// A consumer that checks the exact type makes no request to the proxy, so its direct call is
// reported only as `convert`. So is one whose recorded call raises or imports something else. A
// cell with wrong values is repeated through a proxy only if another protocol was observed.
void ProtocolSearch::find(const std::string& requested, bool is_same_object, bool is_wrong,
                          const std::function<bool(PyObject*)>& is_alike) {
  PyObject* x = call_.first_exporter();
  if (is_same_object) {
    observed_.observation.used = "own";
    if (requested != Protocol::convert && !is_wrong) {
      use_proxy(requested, "a shortcut that returns the array itself");
    }
    return;
  }
  if (call_.import_call().imports_capsule()) {
    const Ref capsule = checked(PyObject_CallMethod(x, "__dlpack__", nullptr));
    const CapsuleFacts facts = facts_of_capsule(capsule.get());
    if (requested.starts_with("dlpack_") && requested != "dlpack_" + facts.struct_name) {
      throw Failure{Outcome::no_protocol, "",
                    "the consumer imports a capsule of __dlpack__(), which has the " +
                        facts.struct_name + " struct"};
    }
    observed_.observation = {
        "dlpack", call_.way(), {"__dlpack__()"}, facts.struct_name, facts.version, facts.flags, {}};
    static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
    observed_.recording = {make_method_request(name, nullptr, 0, nullptr)};
    return;
  }
  Recorder recorder;
  Warnings warnings;  // dropped, because this exchange is not the timed one
  const Recorded recorded = call_.import_recorded(call_.shown(), recorder, warnings);
  const bool is_other = !recorded.result || !is_alike(recorded.result.get());
  if (requested == Protocol::convert) {
    // A general call may recognize the type and import other objects through another path.
    observed_.observation.used = "own";
    observed_.has_unknown_requests = is_other;
    if (!is_other) observe(recorder, "recorder");
  } else if (fits(requested, recorder) && !is_other) {
    observe(recorder, call_.way());
  } else if (!is_wrong || !recorder.used().empty()) {
    const bool is_own = is_other || recorder.used().empty();
    use_proxy(requested, is_own ? "its own code for the type" : recorder.used());
  }
}

void ProtocolSearch::observe(const Recorder& recorder, const char* via) {
  observed_.observation = observe_through(recorder, via);
  observed_.recording = recorder.recording();
  observed_.is_truncated = recorder.is_truncated();
}

void ProtocolSearch::use_proxy(const std::string& requested, const std::string& direct) {
  has_passed_proxy_ = true;
  Recorder recorder;
  Warnings warnings;
  const std::optional<Failure> refusal =
      call_.import_recorded(shown_for(requested), recorder, warnings).refusal;
  producer_raised_ = refusal && recorder.producer_failed();
  // A failed request for the protocol counts as a use of it.
  if (refusal && (fits(requested, recorder) || recorder.producer_failed())) throw Failure(*refusal);
  if (refusal || !fits(requested, recorder)) {
    Failure other{Outcome::no_protocol, "", other_way(requested, direct, recorder),
                  std::string(codes::kOtherProtocol)};
    if (refusal) {
      other.reason +=
          "; with a proxy that offers only " + requested + ", it raises: " + refusal->reason;
      other.data["proxy"] = refusal->reason;
    }
    throw other;
  }
  observe(recorder, call_.has_exports() ? call_.way() : "proxy");
  if (!observed_.is_proxied()) return;  // the objects of EXPORTS already offer only this protocol
  // The first call used the array itself, so mark its warnings unless the call with the proxy
  // repeats them.
  for (Warning& early : call_.python_warnings()) {
    if (contains(warnings, early)) continue;
    early.text = "first call: " + early.text;
    early.data["call"] = "first";
    warnings.push_back(std::move(early));
  }
  call_.python_warnings() = std::move(warnings);
  call_.pass_proxies(shown_for(requested));
}

bool ProtocolSearch::use_proxy_after_refusal(const std::string& requested) {
  try {
    use_proxy(requested, "");
    return true;
  } catch (const Failure&) {
    has_passed_proxy_ = producer_raised_ = false;
    return false;
  }
}

// If the consumer still imports the array itself, it refuses only the proxy. An earlier import does
// not show that: a device may have failed since.
Failure ProtocolSearch::explain_refusal(
    const Failure& refusal, const Exchange& exchange,
    const std::function<std::optional<Failure>(PyObject*)>& find_wrong) {
  try {
    const Ref result = call_.import_and_wait(call_.first_array());
    if (std::optional<Failure> wrong = find_wrong(result.get())) {
      if (call_.has_exports()) return refusal;
      wrong->reason += "; through dlbench's proxy it raises " + message_of(refusal);
      return *wrong;
    }
  } catch (const Failure& failure) {
    return call_.has_exports() ? refusal : failure;
  }
  const std::string raised_by = producer_raised_
                                    ? exchange.producer + "'s export failed and the call raised "
                                : call_.has_exports() ? "the call raised "
                                                      : exchange.consumer + " raised ";
  return {Outcome::no_protocol, refusal.exception,
          exchange.consumer +
              " imports the array itself; through dlbench's proxy, which offers only " +
              exchange.protocol + ", " + raised_by + message_of(refusal),
          std::string(codes::kProxyRefused)};
}

Recording ProtocolSearch::record_now() {
  if (observed_.recording.empty() || call_.import_call().imports_capsule())
    return observed_.recording;
  Recorder recorder;
  Warnings warnings;
  if (const std::optional<Failure> refusal =
          call_.import_recorded(call_.shown(), recorder, warnings).refusal) {
    throw Failure(*refusal);
  }
  return recorder.recording();
}

}  // namespace dlbench::worker
