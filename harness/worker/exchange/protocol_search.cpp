#include "worker/exchange/protocol_search.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "model/codes.hpp"
#include "worker/library/capsule.hpp"

namespace dlbench::worker {
namespace {

// May a number be filed under `requested`, after what the recorder saw?
bool fits(const std::string& requested, const Recorder& recorder) {
  if (requested == "convert" || requested == recorder.used()) return true;
  if (recorder.used() != "dlpack") return false;
  return (requested == "dlpack_legacy" && recorder.facts().struct_name == "legacy") ||
         (requested == "dlpack_versioned" && recorder.facts().struct_name == "versioned");
}

bool asks_for_version(const Recorder& recorder) {
  constexpr std::string_view kVersion = "max_version=";
  return std::any_of(
      recorder.calls().begin(), recorder.calls().end(), [&](const std::string& call) {
        const std::size_t at = call.find(kVersion);
        return at != std::string::npos && !call.substr(at + kVersion.size()).starts_with("None");
      });
}

// Why nothing is reported under `requested`. `direct`: the protocol that carries the array itself,
// where known. Where the other one of DLPack's two structs came, the producer is responsible,
// unless it was not called for this one. (The proxy of `dlpack_legacy` hides the request for a
// version.)
std::string other_way(const std::string& requested, const std::string& direct,
                      const Recorder& recorder) {
  const bool is_struct = requested == "dlpack_legacy" || requested == "dlpack_versioned";
  const std::string& given = recorder.facts().struct_name;
  if (!is_struct || recorder.used() != "dlpack" || given.empty()) {
    if (direct.empty()) return "the consumer does not request " + requested;
    return "the consumer imports through " + direct + ", not " + requested;
  }
  const bool asked = requested == "dlpack_versioned" && asks_for_version(recorder);
  return std::string("the consumer requested ") + (asked ? "a" : "no") +
         " version, and the producer gave a " + given + " struct";
}

Seen seen_through(const Recorder& recorder, const char* via) {
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

// A consumer that checks the exact type makes no request to the proxy: then only `convert` may be
// reported for the direct call, since it promises no protocol. A cell with wrong values goes
// through a proxy only where another protocol was seen to carry them.
void ProtocolSearch::find(const std::string& requested, bool is_same_object, bool is_wrong) {
  PyObject* x = call_.first_exporter();
  if (is_same_object) {
    observed_.seen.used = "own";
    if (requested != "convert" && !is_wrong) {
      use_proxy(requested, "the very object that it was given");
    }
    return;
  }
  if (call_.import_call().takes_capsule()) {
    const Ref capsule = checked(PyObject_CallMethod(x, "__dlpack__", nullptr));
    const CapsuleFacts facts = facts_of_capsule(capsule.get());
    if (requested.starts_with("dlpack_") && requested != "dlpack_" + facts.struct_name) {
      throw Failure{Outcome::no_protocol, "",
                    "it gets a capsule, which is " + facts.struct_name + " unless requested"};
    }
    observed_.seen = {"dlpack",    call_.way(), {"__dlpack__()"}, facts.struct_name, facts.version,
                      facts.flags, {}};
    static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
    observed_.recording = {asked_method(name, nullptr, 0, nullptr)};
    return;
  }
  Recorder recorder;
  Warnings warnings;  // of another exchange than the one that is timed
  const std::optional<Failure> refusal = call_.import_recorded(call_.shown(), recorder, warnings);
  if (requested == "convert") {
    // A general call may recognize the type itself, and import an object without the type by
    // another path.
    observed_.seen.used = "own";
    observed_.refuses_replay = refusal.has_value();
    if (!refusal) observe(recorder, "recorder");
  } else if (fits(requested, recorder)) {
    observe(recorder, call_.way());
  } else if (!is_wrong || !recorder.used().empty()) {
    use_proxy(requested, recorder.used().empty() ? "a path of its own" : recorder.used());
  }
}

void ProtocolSearch::observe(const Recorder& recorder, const char* via) {
  observed_.seen = seen_through(recorder, via);
  observed_.recording = recorder.recording();
  observed_.is_torn = recorder.is_torn();
}

void ProtocolSearch::use_proxy(const std::string& requested, const std::string& direct) {
  given_proxy_ = true;
  Recorder recorder;
  Warnings warnings;
  const std::optional<Failure> refusal =
      call_.import_recorded(shown_for(requested), recorder, warnings);
  producer_raised_ = refusal && recorder.producer_failed();
  // A request for the protocol that then failed still counts as its use.
  if (refusal && (fits(requested, recorder) || recorder.producer_failed())) throw Failure(*refusal);
  if (refusal || !fits(requested, recorder)) {
    Failure other{Outcome::no_protocol, "", other_way(requested, direct, recorder),
                  std::string(codes::kOtherProtocol)};
    if (refusal) {
      other.reason += "; if only that protocol is offered, it raises: " + refusal->reason;
      other.data["proxy"] = refusal->reason;
    }
    throw other;
  }
  observe(recorder, call_.has_exports() ? call_.way() : "proxy");
  if (!observed_.is_proxied()) return;  // what EXPORTS make shows nothing else
  // The first call was made with the array itself: what it warned of is named as such, unless this
  // way warns of it too.
  for (Warning& early : call_.python_warnings()) {
    if (std::find(warnings.begin(), warnings.end(), early) != warnings.end()) continue;
    early.text = "first call: " + early.text;
    early.data["call"] = "first";
    warnings.push_back(std::move(early));
  }
  call_.python_warnings() = std::move(warnings);
  call_.give_proxies(shown_for(requested));
}

// A consumer that imports the array itself has not refused the library.
Failure ProtocolSearch::explain_refusal(
    const Failure& refusal, const Exchange& exchange,
    const std::function<std::optional<Failure>(PyObject*)>& find_wrong) {
  if (call_.is_converted(exchange.protocol) ||
      call_.has_exports()) {  // else it was made, and succeeded
    try {
      const Ref result = call_.import_and_wait(call_.first_array());
      if (std::optional<Failure> wrong = find_wrong(result.get())) {
        if (call_.has_exports()) return refusal;
        wrong->reason += "; through dlbench's proxy it raises " + words_of(refusal);
        return *wrong;
      }
    } catch (const Failure& failure) {
      return call_.has_exports() ? refusal : failure;
    }
  }
  const std::string raised_by = producer_raised_
                                    ? exchange.producer + "'s export failed and the call raised "
                                : call_.has_exports() ? "the call raised "
                                                      : exchange.consumer + " raised ";
  return {Outcome::no_protocol, refusal.exception,
          exchange.consumer + " imports the array itself; through dlbench's proxy, which offers " +
              exchange.protocol + " alone, " + raised_by + words_of(refusal),
          std::string(codes::kProxyRefused)};
}

Recording ProtocolSearch::record_now() {
  if (observed_.recording.empty() || call_.import_call().takes_capsule())
    return observed_.recording;
  Recorder recorder;
  Warnings warnings;
  if (const std::optional<Failure> refusal =
          call_.import_recorded(call_.shown(), recorder, warnings)) {
    throw Failure(*refusal);
  }
  return recorder.recording();
}

}  // namespace dlbench::worker
