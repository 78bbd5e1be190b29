#include "worker/arrays/arrays.hpp"

#include <algorithm>

#include "exchange/dtype.hpp"
#include "exchange/restated.hpp"
#include "model/codes.hpp"
#include "model/places.hpp"
#include "worker/arrays/made.hpp"
#include "worker/arrays/read.hpp"
#include "worker/base/spent.hpp"
#include "worker/library/devices.hpp"

namespace dlbench::worker {
namespace {

// Small arrays, or sets of them, are used in rotation, so that not always the same cache lines are
// warm. A large array exists once, because each array costs page faults and an exchange without a
// copy does not read it.
constexpr std::size_t kMostSets = 4;
constexpr std::uint64_t kMostPoolBytes = 256 << 10;

// A special property is requested only from adapters that declare it, because others would make an
// array without it.
void require_special(const Exchange& exchange, const Library& producer, const Ref& special) {
  const Ref known = optional_attribute(producer.producer.get(), "SPECIAL");
  if (known && PySequence_Contains(known.get(), special.get()) == 1) return;
  PyErr_Clear();
  throw Failure{
      Outcome::unsupported, "",
      "the adapter of " + exchange.producer + " makes no " + text_of(special.get()) + " arrays"};
}

Ref call_make(const Exchange& exchange, const Library& producer, const Ref& spec) {
  const Ref make = checked(PyObject_GetAttrString(producer.producer.get(), "make"));
  Ref array =
      checked(PyObject_CallFunction(make.get(), "Os", spec.get(), source_of(exchange).c_str()));
  if (array.get() == Py_None) throw Failure{Outcome::refused, "", "`make` returned None"};
  return array;
}

void wait_for(const Exchange& exchange, const Library& producer, const Ref& array) {
  if (const Ref ready = producer.function("ready")) {
    checked(PyObject_CallOneArg(ready.get(), array.get()));
  } else if (const DeviceAt at = device_named(source_of(exchange))) {
    settle(at);
  }
}

// No consumer is called here, so every failure is the producer's.
Ref make(const Exchange& exchange, const Library& producer, const Ref& make_case, bool waits) {
  const Spent::Span counted(Spent::On::library);
  const Ref spec = checked(PyObject_CallNoArgs(make_case.get()));
  const Ref special = checked(PyObject_GetAttrString(spec.get(), "special"));
  const bool is_special = PyUnicode_GetLength(special.get()) > 0;
  if (is_special) require_special(exchange, producer, special);
  try {
    // A missing device is reported with the backend's reason, not with that of `make`.
    device_named(source_of(exchange));
    Ref array = call_make(exchange, producer, spec);
    if (!waits) return array;
    wait_for(exchange, producer, array);
    if (PyObject_IsTrue(checked(PyObject_GetAttrString(spec.get(), "own")).get()) == 1) {
      require_storage(spec, array, producer);
    }
    // Pinned memory may be the host's.
    if (!is_special) require_device(source_of(exchange), exchange, array.get(), producer);
    return array;
  } catch (Failure& failure) {
    failure.data["library"] = exchange.producer;
    const bool raised = failure.outcome == Outcome::refused;
    if (!raised && failure.outcome != Outcome::out_of_memory) throw;
    failure.reason = exchange.producer + " cannot make the array: " + message_of(failure);
    if (raised) failure.outcome = Outcome::unsupported;
    if (raised) failure.code = codes::kMakeFailed;
    throw;
  }
}

}  // namespace

Ref make_array(const Exchange& exchange, const Library& producer, const Ref& make_case) {
  return make(exchange, producer, make_case, true);
}

Ref make_pending_array(const Exchange& exchange, const Library& producer, const Ref& make_case) {
  return make(exchange, producer, make_case, false);
}

namespace {

// A library that chooses the addresses of its arrays may have the case's alignment by chance, so
// further arrays must have it as well; of large ones that takes too long.
constexpr std::size_t kAligned = 16;
constexpr std::uint64_t kMostAlignedBytes = 1 << 20;

// Further arrays of a case with an alignment, kept, so that none lies where another lay.
void require_aligned(const Exchange& exchange, const Library& producer, const Ref& make_case,
                     const exchange::View& expected) {
  std::vector<Ref> made;
  while (made.size() < kAligned && exchange.bytes <= kMostAlignedBytes) {
    made.push_back(make_array(exchange, producer, make_case));
    require_alignment(made.back().get(), expected, producer);
  }
}

Pool make_pool(const Exchange& exchange, const Library& producer, const Ref& make_case,
               const exchange::View& expected) {
  Pool pool;
  const std::uint64_t of_set = std::max<std::uint64_t>(1, exchange.arrays);
  const std::uint64_t sets = std::clamp<std::uint64_t>(
      kMostPoolBytes / of_set / std::max<std::uint64_t>(1, exchange.bytes), 1, kMostSets);
  while (pool.arrays.size() < sets * of_set) {
    pool.arrays.push_back(make_array(exchange, producer, make_case));
  }
  for (const Ref& array : pool.arrays) require_alignment(array.get(), expected, producer);
  return pool;
}

Held content_of(const Ref& make_case) {
  const Ref spec = checked(PyObject_CallNoArgs(make_case.get()));
  // Dtypes that NumPy lacks are integers with the same bits.
  const Ref stored = checked(PyObject_CallMethod(spec.get(), "stored", nullptr));
  Held content = read_values(stored.get(), {});
  content.view = with_own_strides(std::move(content.view), stored.get());
  content.view.dtype = exchange::dtype_from_name(
      text_of(checked(PyObject_GetAttrString(spec.get(), "dtype")).get()));
  content.view.swapped =
      text_of(checked(PyObject_GetAttrString(spec.get(), "special")).get()) == "swapped";
  return content;
}

}  // namespace

std::shared_ptr<const Pool> Arrays::get(const Exchange& exchange, const Library& producer,
                                        const Ref& make_case) {
  std::shared_ptr<const Held>& expected = expected_[{exchange.case_name, exchange.bytes}];
  if (!expected) expected = std::make_shared<const Held>(content_of(make_case));
  std::shared_ptr<const Pool>& pool =
      pools_[{exchange.producer, exchange.consumer, source_of(exchange), exchange.case_name,
              exchange.bytes, exchange.arrays}];
  if (!pool) {
    const Made key{exchange.producer, source_of(exchange), exchange.case_name, exchange.bytes};
    Pool made = [&] {
      try {
        Pool arrays = make_pool(exchange, producer, make_case, expected->view);
        if (has_alignment(expected->view) && !aligned_.contains(key)) {
          require_aligned(exchange, producer, make_case, expected->view);
          aligned_.insert(key);
        }
        return arrays;
      } catch (Failure& failure) {
        // Report the message of the library itself.
        if (!producer.has_device(source_of(exchange))) {
          failure.outcome = Outcome::no_device;
          failure.code.clear();
        }
        throw;
      }
    }();
    made.expected = expected;
    if (has_lost_dtype(made.arrays.front().get(), expected->view)) {
      made.expected = std::make_shared<const Held>(
          Held{exchange::without_dtype(expected->view), expected->keeper});
    }
    pool = std::make_shared<const Pool>(std::move(made));
  }
  return pool;
}

void Arrays::require_case(const Exchange& exchange, const Library& producer, const Ref& make_case,
                          bool was_taken) {
  const std::pair key{
      Made{exchange.producer, source_of(exchange), exchange.case_name, exchange.bytes}, was_taken};
  if (as_asked_.contains(key)) return;
  // An array that is only made to be read: reading it may change what its library does next.
  const Ref array = make_array(exchange, producer, make_case);
  const Ref spec = checked(PyObject_CallNoArgs(make_case.get()));
  const Ref special = checked(PyObject_GetAttrString(spec.get(), "special"));
  const Held& expected = *expected_.at({exchange.case_name, exchange.bytes});
  require_made(text_of(special.get()), array.get(), expected.view, producer, was_taken);
  as_asked_.insert(key);
}

void Arrays::drop_unused() {
  const auto unused = [](const auto& item) { return item.second.use_count() <= 1; };
  std::erase_if(pools_, unused);
  std::erase_if(expected_, unused);
}

}  // namespace dlbench::worker
