#include "worker/exchange/exchange_judge.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "exchange/dtype.hpp"
#include "exchange/layout.hpp"
#include "exchange/verdict.hpp"
#include "model/codes.hpp"
#include "model/names.hpp"
#include "model/places.hpp"
#include "worker/arrays/extras.hpp"
#include "worker/arrays/read.hpp"
#include "worker/base/spent.hpp"
#include "worker/judge/copier.hpp"
#include "worker/judge/lifetime.hpp"
#include "worker/judge/outliving.hpp"
#include "worker/library/device_memory.hpp"
#include "worker/library/dispatch.hpp"
#include "worker/timing/counted.hpp"

namespace dlbench::worker {

ExchangeJudge::ExchangeJudge(const Order& order, ExchangeCall& call)
    : call_(call),
      exchange_(order.exchange),
      make_case_(order.make_case),
      is_conversion_(order.exchange.protocol == Protocol::convert),
      // Reads by a driver raise no page fault, and a driver may fail if pages are protected.
      is_guardable_(order.special != "pinned" && order.special != "managed" &&
                    !device_named(target_of(order.exchange))) {}

std::optional<Failure> ExchangeJudge::find_wrong_values(PyObject* result) {
  try {
    judgement_ = judge_result(call_.pool(), call_.producer(), result, call_.consumer());
    return {};
  } catch (const Failure& failure) {
    if (failure.outcome != Outcome::wrong) throw;
    return failure;
  }
}

bool ExchangeJudge::is_alike(PyObject* judged, PyObject* other, bool is_wrong) const {
  if (Py_TYPE(judged) != Py_TYPE(other)) return false;
  try {
    if (const Ref memory = call_.consumer().function("memory")) {
      const Ref held = checked(PyObject_CallOneArg(memory.get(), judged));
      const Ref also = checked(PyObject_CallOneArg(memory.get(), other));
      if (is_proxy(also.get())) return true;  // it holds its argument, which shows no more
      if (Py_TYPE(held.get()) != Py_TYPE(also.get())) return false;
    }
    const Judgement found = judge_result(call_.pool(), call_.producer(), other, call_.consumer());
    return !is_wrong && found.changed == judgement_.changed &&
           found.evidence.address == judgement_.evidence.address &&
           found.evidence.write == judgement_.evidence.write;
  } catch (const Failure&) {
    return is_wrong;
  }
}

void ExchangeJudge::judge_calls() {
  judgement_ =
      call_.proof()->judge([this](std::size_t row) { call_.import_and_wait(call_.inputs()[row]); });
}

void ExchangeJudge::compare_extras(PyObject* result) {
  judgement_.changed = lost(call_.first_array(), result, call_.producer());
}

// An array without a known address was copied if two exports of it have different addresses. A
// conversion to the array's own type may need no export.
void ExchangeJudge::compare_exports() {
  if (is_conversion_ && judgement_.is_same_type) return;
  Recorder first, second;
  try {
    const RecordingProxy one(call_.first_exporter(), call_.shown(), first);
    const RecordingProxy other(call_.first_exporter(), call_.shown(), second);
    const Ref kept = call_.import_and_wait(one.get());
    call_.import_and_wait(other.get());
  } catch (const Failure&) {
    return;
  }
  if (first.address() == 0 || second.address() == 0 || first.address() == second.address()) return;
  judgement_.evidence.address = Proof::no;
  judgement_.copied_by = "producer";
  forget(judgement_.warnings, "addresses-not-compared");
}

// Does a result without a known address show what is written into the source? A library may copy
// the values when they are first read, so a read after the source is restored must show that, too.
void ExchangeJudge::compare_written_values() {
  const exchange::View& expected = call_.pool().expected->view;
  try {
    const Held source = read_place(call_.first_array(), call_.producer());
    // Objects would be read by pointers that are none.
    if (source.view.dtype == exchange::kObjects || !is_writable(source.view) || expected.readonly ||
        source.view.device != exchange::Device{} ||
        writable_place(call_.first_array(), call_.producer(), source.view.address) ==
            Writable::no) {
      return;
    }
    const std::vector<unsigned char> missing =
        missing_of(extras_of(call_.first_array(), call_.producer()));
    const Ref result = call_.import_and_wait(call_.inputs()[0]);
    const auto differs = [&] {
      const Held values = read_values(result.get(), call_.consumer());
      return !exchange::difference(expected, values.view, missing).empty();
    };
    const auto shows = [&] {
      const exchange::Changed written(source.view);
      return differs();
    };
    const bool first = shows();
    if (differs() || first != shows()) return;
    judgement_.evidence.write = first ? Proof::yes : Proof::no;
    forget(judgement_.warnings, "addresses-not-compared");
  } catch (const Failure&) {
    // The address of the source is unknown, too.
  } catch (const exchange::ViewError&) {
  }
}

void ExchangeJudge::conclude() {
  const bool is_unknown =
      has(judgement_.warnings, "addresses-not-compared") && judgement_.has_right_values &&
      judgement_.evidence.address == Proof::skipped && call_.pool().expected->view.elements() > 0;
  if (is_unknown) compare_written_values();
  if (is_unknown && judgement_.evidence.write == Proof::skipped) compare_exports();
  worker::conclude(judgement_);
  add_warnings();
}

// Called before any result is released, because a result whose memory is deleted must not be
// released.
void ExchangeJudge::check_lifetime(Ref& result) {
  if (result.get() == call_.first_exporter()) return;
  const ExportSource source{call_.pool(), call_.first_exporter(), call_.shown(), call_.producer()};
  Lifetime found = observe_lifetime(source, call_.consumer(),
                                    [this](PyObject* x) { return call_.import_and_wait(x); });
  lifetime_ = std::move(found.warnings);
  if (!found.deleted_twice) return;
  result.release();
  throw Failure{Outcome::wrong, "", "deleter: called twice for one export",
                std::string(codes::kDeleterTwice)};
}

// A deleter that does nothing is visible only in the growth of memory.
void ExchangeJudge::check_growth(TimedBlocks& blocks) {
  constexpr std::uint64_t kLeast = 64, kMost = 256;
  // For long exchanges this would take more time than their rounds.
  if (blocks.calibrated() < kLeast || call_.most_iterations() < kLeast) return;
  forget(lifetime_, "memory-grows");
  const Spent::Span counted(Spent::On::library);
  Block block = blocks.block("ready");
  blocks.drain();
  const double left = bytes_left_behind(block.body(), std::min(blocks.calibrated(), kMost));
  if (left <= 0) return;
  const std::string bytes = std::to_string(std::lround(left));
  warn(lifetime_, "memory-grows", "memory: each exchange leaves " + bytes + " bytes allocated",
       {{"bytes", bytes}});
}

// Adds the warnings that are not part of a judgment, because each judgment replaces its own.
void ExchangeJudge::add_warnings() {
  warn(judgement_.warnings, lifetime_);
  warn(judgement_.warnings, call_.python_warnings());
  if (!call_.stream_failure().empty()) {
    warn(judgement_.warnings, "waited-for-device",
         "waited for the whole device: `stream` failed: " + call_.stream_failure());
  }
  if (has_gil() && !had_gil_at_start()) {
    warn(judgement_.warnings, "gil-enabled",
         "measured with the GIL: a library enabled it in this free-threaded Python");
  }
}

// Imports an array that has no other owner.
void ExchangeJudge::check_outliving(const Order& order) {
  if (order.exchange.bytes > kMostBytesToOutlive || !judgement_.has_right_values) return;
  const auto import = [&](const Ref& array) { return call_.import(call_.object_for(array).get()); };
  // Overwrites memory that the library reuses from its pool, but not the measured arrays if `make`
  // returns the same memory twice.
  std::string spoil_failure;
  const auto make_spoiled = [&]() -> Ref {
    try {
      Ref next = make_array(order.exchange, call_.producer(), order.make_case);
      const exchange::View view = read_place(next.get(), call_.producer()).view;
      const exchange::Extent memory = exchange::extent_of(view);
      const bool is_measured = std::any_of(
          call_.pool().arrays.begin(), call_.pool().arrays.end(), [&](const Ref& array) {
            const exchange::Extent other =
                exchange::extent_of(read_place(array.get(), call_.producer()).view);
            return memory.overlaps(other);
          });
      try {
        if (!is_measured) spoil(view);
      } catch (const Failure& failure) {
        spoil_failure = failure.reason;
      }
      return next;
    } catch (const Failure&) {
      return {};
    }
  };
  const auto wait = [this](PyObject* result) { call_.wait_for(result); };
  const Ref spec = checked(PyObject_CallNoArgs(order.make_case.get()));
  const Ref room = checked(PyObject_GetAttrString(spec.get(), "room"));
  std::vector<unsigned char> missing;
  try {
    missing = missing_of(extras_of(call_.first_array(), call_.producer()));
  } catch (const Failure&) {
    // `judge_result` has warned already.
  }
  const std::string why_not =
      require_outliving(make_array(order.exchange, call_.producer(), order.make_case), import, wait,
                        make_spoiled, call_.consumer(), call_.pool().expected->view, missing,
                        PyLong_AsUnsignedLongLong(room.get()));
  if (spoil_failure.empty()) spoil_failure = why_not;
  if (!spoil_failure.empty()) {
    warn(lifetime_, "memory-not-spoiled",
         "memory: freed memory could not be overwritten: " + spoil_failure);
  }
}

Steps ExchangeJudge::steps(PyObject* x) {
  return {[this, x] { return call_.import(x); },
          [this](PyObject* result) { call_.wait_for(result); },
          [this](PyObject* result) { return read_place(result, call_.consumer()); },
          [this](PyObject* result) { return read_values(result, call_.consumer()); }};
}

const Judgement& ExchangeJudge::judge_again(const ObservedProtocol& observed, TimedBlocks& blocks,
                                            const Announce& step) {
  if (is_dispatch(observed.observation.used)) return judgement_;
  if (call_.proof() != nullptr) {
    step(Step::growth);
    check_growth(blocks);
    step(Step::values);
    judge_calls();
    // Not before the rounds: a function may end the worker where it gets another type.
    step(Step::recorder);
    requests_ = record_argument();
    step(Step::guard);
    find_argument_copier();
    add_warnings();
    step(Step::judged);
    return judgement_;
  }
  step(Step::growth);
  check_growth(blocks);
  step(Step::guard);
  // Pages that a driver has pinned or migrates must not be protected.
  const std::optional<Held> source =
      is_guardable_ ? place_to_guard(call_.first_array(), call_.producer()) : std::optional<Held>{};
  std::string why_not;
  if (source && under_valgrind()) {
    why_not = "valgrind does not resume an instruction that faults, so values would be lost";
  } else if (source) {
    try {
      judgement_ = judge_guarded(source->view);
    } catch (const exchange::GuardError& error) {
      why_not = error.what();
    } catch (const Failure& failure) {
      why_not =
          "the exchange fails only while pages are guarded, for example because a system call "
          "reads "
          "them: ";
      why_not += failure.reason;
    }
  }
  if (!source || !why_not.empty()) {
    step(Step::values);
    judgement_ = judge_plainly();
    if (!why_not.empty()) warn(judgement_.warnings, "no-guard", "no guard: " + why_not);
    step(Step::guard);
  }
  conclude();
  find_copier(observed, source && why_not.empty());
  step(Step::judged);
  return judgement_;
}

Judgement ExchangeJudge::judge_plainly() {
  const Ref result = call_.import_and_wait(call_.inputs()[0]);
  return judge_result(call_.pool(), call_.producer(), result.get(), call_.consumer());
}

Judgement ExchangeJudge::judge_guarded(const exchange::View& source) {
  Judgement judgement;
  Steps all = steps(call_.inputs()[0]);
  all.judge = [&](PyObject* result) {
    judgement = judge_result(call_.pool(), call_.producer(), result, call_.consumer());
  };
  Guarded guarded = exchange_guarded(source, all);
  judgement.evidence.guard = guarded.word;
  judgement.late_read = guarded.observed.late > 0;
  judgement.guard = std::move(guarded.observed);
  warn(judgement.warnings, guarded.warnings);
  return judgement;
}

void ExchangeJudge::find_copier(const ObservedProtocol& observed, bool is_guarded) {
  warn_of_false_flag(observed.observation, judgement_.outcome, judgement_.warnings);
  const bool copied =
      judgement_.outcome == Outcome::copy || judgement_.outcome == Outcome::device_copy;
  if (!copied || !judgement_.copied_by.empty()) return;
  try {
    const Held source = read_place(call_.first_array(), call_.producer());
    Recorder recorder;
    const RecordingProxy proxy(call_.first_exporter(), call_.shown(), recorder);
    const Copier copier = copier_of(steps(proxy.get()), recorder, source.view, is_guarded);
    judgement_.copied_by = copier.library;
    warn(judgement_.warnings, copier.warnings);
  } catch (const Failure&) {
    // The consumer made no request to the array, so only the consumer can have copied.
    if (observed.observation.used == "own" && !observed.has_unknown_requests)
      judgement_.copied_by = "consumer";
  } catch (const exchange::ViewError&) {
    // An impossible description: `judge_result` has warned already.
  }
  if (judgement_.copied_by.empty() && is_read_by_consumer()) judgement_.copied_by = "consumer";
}

// Finds the side that copied the first of the copied arguments of a call.
void ExchangeJudge::find_argument_copier() {
  if (judgement_.outcome != Outcome::copy) return;
  judgement_.copied_by = argument_copier_;
  if (judgement_.copied_by.empty()) guard_argument(call_.proof()->copied().front());
}

// Of NumPy's type, or of one that inherits from it.
static bool is_numpys(PyObject* array) {
  PyObject* const types = Py_TYPE(array)->tp_mro;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(types); ++i) {
    const auto* type = reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(types, i));
    if (std::string_view(type->tp_name) == "numpy.ndarray") return true;
  }
  return false;
}

// Passes a recording proxy as the first copied argument, or the first. The producer copied if it
// exported another address than the array's, the consumer if the body got another one than was
// exported.
std::vector<std::string> ExchangeJudge::record_argument() try {
  if (exchange_.arrays == 0) return {};
  const auto& copied = call_.proof()->copied();
  const std::size_t position = copied.empty() ? 0 : copied.front();
  std::vector<PyObject*> arrays;
  for (std::size_t i = 0; i < exchange_.arrays; ++i) arrays.push_back(call_.pool().arrays[i].get());
  PyObject* const array = arrays[position];
  const std::uintptr_t place = read_place(array, call_.producer()).view.address;
  Recorder recorder;
  const RecordingProxy proxy(array, shown_by(array), recorder);
  arrays[position] = proxy.get();
  CallProof::begin();
  call_.import_and_wait(call_.import_call().row(arrays).get());
  const std::uintptr_t exported = recorder.address(), found = CallProof::address(position);
  if (CallProof::calls() != 1 || exported == 0 || (found == place) != copied.empty()) return {};
  if (!copied.empty()) argument_copier_ = exported != place ? "producer" : "consumer";
  // The function may know these types, and make no request to the array itself.
  const auto library = [](const std::string& name) { return name.substr(0, name.find(':')); };
  const bool is_known =
      is_numpys(array) || library(exchange_.producer) == library(exchange_.consumer);
  return is_known ? std::vector<std::string>() : recorder.calls();
} catch (const Failure&) {
  return {};  // it takes no proxy
}

// Makes a call with arrays of whole pages.
void ExchangeJudge::guard_argument(std::size_t position) try {
  if (!is_guardable_ || under_valgrind()) return;
  constexpr std::uint64_t kBytes = 32 << 10;
  const Ref make_case = with_bytes(make_case_, std::max(kBytes, exchange_.bytes));
  std::vector<Ref> made;
  std::vector<PyObject*> arrays;
  for (std::size_t i = 0; i < exchange_.arrays; ++i) {
    made.push_back(make_array(exchange_, call_.producer(), make_case));
    arrays.push_back(made.back().get());
  }
  const std::optional<Held> source = place_to_guard(arrays[position], call_.producer());
  if (!source) return;
  const Ref row = call_.import_call().row(arrays);
  call_.import_and_wait(row.get());  // a function may be compiled for this size
  Steps all = steps(row.get());
  // The call returns nothing that could be read.
  all.place = [&](PyObject*) { return read_place(arrays[position], call_.producer()); };
  Guarded guarded = exchange_guarded(source->view, all);
  if (CallProof::address(position) == source->view.address) return;
  judgement_.evidence.guard = guarded.word;
  judgement_.guard = std::move(guarded.observed);
  if (is_read_by_consumer()) judgement_.copied_by = "consumer";
} catch (const Failure&) {
  // The function takes no arrays of this size, or a system call reads them.
} catch (const exchange::GuardError&) {
}

// Was every page of the array itself read, and by code of the consumer's package alone? Then the
// producer exported its own memory.
bool ExchangeJudge::is_read_by_consumer() const try {
  if (!judgement_.guard || judgement_.evidence.guard != Proof::no) return false;
  const Ref loading = checked(PyImport_ImportModule("dlbench.loading"));
  const Ref files = checked(PyList_New(0));
  for (const std::string& file : judgement_.guard->by) {
    const Ref name =
        checked(PyUnicode_FromStringAndSize(file.data(), static_cast<Py_ssize_t>(file.size())));
    if (PyList_Append(files.get(), name.get()) != 0) throw fetch_failure();
  }
  const Ref producer = call_.producer().producer ? call_.producer().producer : Ref::borrow(Py_None);
  const Ref found = checked(PyObject_CallMethod(loading.get(), "is_code_of", "OOOO", files.get(),
                                                call_.consumer().consumer.get(), producer.get(),
                                                call_.first_array()));
  return PyObject_IsTrue(found.get()) == 1;
} catch (const Failure&) {
  return false;
}

}  // namespace dlbench::worker
