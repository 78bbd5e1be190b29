#include <algorithm>
#include <optional>
#include <string_view>

#include "worker/c_exchange.hpp"
#include "worker/prepared.hpp"

// By which protocol the consumer takes the array, and what it is given so that it does.
namespace dlbench::worker {
namespace {

// May a number be filed under `requested`, after what the tap saw?
bool fits(const std::string& requested, const Tap& tap) {
  if (requested == "convert" || requested == tap.used()) return true;
  if (tap.used() != "dlpack") return false;
  return (requested == "dlpack_legacy" && tap.facts().struct_name == "legacy") ||
         (requested == "dlpack_versioned" && tap.facts().struct_name == "versioned");
}

bool asks_for_version(const Tap& tap) {
  constexpr std::string_view kVersion = "max_version=";
  return std::any_of(tap.calls().begin(), tap.calls().end(), [&](const std::string& call) {
    const std::size_t at = call.find(kVersion);
    return at != std::string::npos && !call.substr(at + kVersion.size()).starts_with("None");
  });
}

// Why nothing is filed under `requested`. `direct`: what carries the array itself, where that is
// known. Of one protocol's two structs the other came: that is for the producer to answer, unless
// it was not asked. (The relay of `dlpack_legacy` lets no question for a version through.)
std::string other_way(const std::string& requested, const std::string& direct, const Tap& tap) {
  const bool is_struct = requested == "dlpack_legacy" || requested == "dlpack_versioned";
  const std::string& given = tap.facts().struct_name;
  if (!is_struct || tap.used() != "dlpack" || given.empty()) {
    if (direct.empty()) return "the consumer does not ask for " + requested;
    return "the consumer took " + direct + ", not " + requested;
  }
  const bool asked = requested == "dlpack_versioned" && asks_for_version(tap);
  return std::string("the consumer asked for ") + (asked ? "a" : "no") +
         " version, and the producer gave a " + given + " struct";
}

Seen seen_through(const Tap& tap, const char* via) {
  const CapsuleFacts& facts = tap.facts();
  return {tap.used().empty() ? "own" : tap.used(),
          via,
          tap.calls(),
          facts.struct_name,
          facts.version,
          facts.flags,
          {}};
}

}  // namespace

void Prepared::require_offer(const std::string& requested) {
  PyObject* x = first_array();
  if (offers(shown_by(x), requested)) return;
  export_ = export_for(producer_, requested);
  if (export_) {
    for (const Ref& array : pool_->arrays) {
      exported_.push_back(make_exported(array.get(), export_));
    }
    return;
  }
  const std::string type = Py_TYPE(x)->tp_name;
  if (requested == "dlpack_c") {
    const std::string flaw = flaw_of_exchange_api(Py_TYPE(x));
    if (!flaw.empty()) {
      throw Failure{Outcome::refused, "", "the C exchange API of a " + type + ": " + flaw};
    }
  }
  throw Failure{Outcome::no_protocol, "", "a " + type + " offers no " + requested};
}

// Crosses once more through a tapped relay that shows all that the producer has. A consumer that
// looks at the exact type asks the relay nothing: then only `convert` may be filed directly, since
// it promises no protocol.
//
// `is_wrong`: the values that the direct call gave. Such a cell goes through a relay only where
// another protocol was seen to carry them.
void Prepared::find_protocol(const std::string& requested, bool same_object, bool is_wrong) {
  PyObject* x = first_asked();
  if (same_object) {
    seen_.used = "own";
    if (requested != "convert" && !is_wrong) {
      go_through_relay(requested, "the very object that it was given");
    }
    return;
  }
  if (crossing_.takes_capsule()) {
    const Ref capsule = checked(PyObject_CallMethod(x, "__dlpack__", nullptr));
    const CapsuleFacts facts = facts_of_capsule(capsule.get());
    if (requested.starts_with("dlpack_") && requested != "dlpack_" + facts.struct_name) {
      throw Failure{Outcome::no_protocol, "",
                    "it is handed a capsule, which is " + facts.struct_name + " unless asked for"};
    }
    seen_ = {"dlpack", way(), {"__dlpack__()"}, facts.struct_name, facts.version, facts.flags, {}};
    static PyObject* const name = PyUnicode_InternFromString("__dlpack__");
    tape_ = {asked_method(name, nullptr, 0, nullptr)};
    return;
  }
  Tap tap;
  std::vector<std::string> words;  // of another crossing than the one that is timed
  const std::optional<Failure> refusal = cross_tapped(shown_mask_, tap, words);
  if (requested == "convert") {
    // A general call may know the type itself, and take what has none by another way.
    seen_.used = "own";
    refuses_stand_in_ = refusal.has_value();
    if (!refusal) note(tap, "tap");
  } else if (fits(requested, tap)) {
    note(tap, way());
  } else if (!is_wrong || !tap.used().empty()) {
    go_through_relay(requested, tap.used().empty() ? "a path of its own" : tap.used());
  }
}

void Prepared::note(const Tap& tap, const char* via) {
  seen_ = seen_through(tap, via);
  tape_ = tap.tape();
  torn_ = tap.is_torn();
}

void Prepared::go_through_relay(const std::string& requested, const std::string& direct) {
  given_proxy_ = true;
  Tap tap;
  std::vector<std::string> words;
  const std::optional<Failure> refusal = cross_tapped(shown_for(requested), tap, words);
  producer_raised_ = refusal && tap.producer_failed();
  // What was asked for it, and then something was wrong with it, takes that protocol.
  if (refusal && (fits(requested, tap) || tap.producer_failed())) throw Failure(*refusal);
  if (refusal || !fits(requested, tap)) {
    throw Failure{Outcome::no_protocol, "",
                  other_way(requested, direct, tap) +
                      (refusal ? "; shown that alone it says: " + refusal->reason : "")};
  }
  note(tap, exported_.empty() ? "relay" : way());
  if (!relayed()) return;  // what EXPORTS make shows nothing else
  // The first call was made with the array itself: what it warned of is named as such, unless this
  // way warns of it too.
  for (const std::string& text : noted_) {
    if (std::find(words.begin(), words.end(), text) == words.end()) {
      words.push_back("first call: " + text);
    }
  }
  noted_ = std::move(words);
  shown_mask_ = shown_for(requested);
  std::vector<Ref> relays;
  for (const Ref& array : pool_->arrays) relays.push_back(stand_for(array, requested));
  show(std::move(relays));
}

// What the consumer is given of an array of this exchange, on the way that is timed.
Ref Prepared::stand_for(const Ref& array, const std::string& requested) const {
  if (export_) return make_exported(array.get(), export_);
  return relayed() ? make_relay(array.get(), shown_for(requested)) : array;
}

// Was it an object of dlbench's that the consumer raised at?
bool Prepared::refused_a_proxy(const Failure& failure) const {
  return failure.outcome == Outcome::refused && (given_proxy_ || !exported_.empty());
}

// The call with the array itself decides. A consumer that takes it has not refused the library.
Failure Prepared::without_proxy(const Failure& refusal, const Exchange& exchange) {
  if (is_converted(exchange.protocol) || !exported_.empty()) {  // else it was made, and succeeded
    try {
      const Ref result = cross_once(first_array());
      wait_for(result.get());
      if (std::optional<Failure> wrong = judge_values(result.get())) {
        if (!exported_.empty()) return refusal;
        wrong->reason += "; through dlbench's proxy it raises " + words_of(refusal);
        return *wrong;
      }
    } catch (const Failure& failure) {
      return exported_.empty() ? failure : refusal;
    }
  }
  const std::string raised_by = producer_raised_
                                    ? exchange.producer + "'s export failed and the call raised "
                                : exported_.empty() ? exchange.consumer + " raised "
                                                    : "the call raised ";
  return {Outcome::no_protocol, refusal.exception,
          exchange.consumer + " takes the array itself; through dlbench's proxy, which offers " +
              exchange.protocol + " alone, " + raised_by + words_of(refusal),
          kProxyRefused};
}

// Returns what the consumer raised, or nothing. Python warnings are added to `words`.
std::optional<Failure> Prepared::cross_tapped(Shown shown, Tap& tap,
                                              std::vector<std::string>& words) {
  try {
    const TappedRelay relay(first_asked(), shown, tap);
    const Ref dropped = cross_and_wait(relay.get(), words, [] {});
    return {};
  } catch (const Failure& failure) {
    return failure;
  }
}

}  // namespace dlbench::worker
