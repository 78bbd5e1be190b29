#include "worker/arrays/arrays.hpp"

#include <algorithm>

#include "exchange/dtype.hpp"
#include "exchange/layout.hpp"
#include "exchange/restated.hpp"
#include "exchange/verdict.hpp"
#include "model/codes.hpp"
#include "model/places.hpp"
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

[[noreturn]] void decline(const std::string& why) {
  throw Failure{Outcome::unsupported, "", "the producer's array " + why};
}

bool lies_in(const exchange::Extent& outer, const exchange::Extent& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

// Throws unless the array lies where the storages "own" and "view" of a case say: in memory that
// the library allocated, and in an array that the adapter sliced.
void require_storage(const Ref& spec, const Ref& array, const Library& producer) {
  const Ref given = checked(PyObject_GetAttrString(spec.get(), "given"));
  const Ref bases = checked(PyObject_GetAttrString(spec.get(), "bases"));
  const bool is_view =
      text_of(checked(PyObject_GetAttrString(spec.get(), "storage")).get()) == "view";
  const auto extent = [](const Held& held) { return exchange::extent_of(held.view); };
  try {
    const Held made = read_place(array.get(), producer);
    const bool is_on_host = exchange::on_host(made.view.device);
    for (Py_ssize_t i = 0; i < PyList_Size(given.get()); ++i) {
      PyObject* const numpys = PyList_GetItem(given.get(), i);
      if (numpys == array.get()) return;  // an array of NumPy's itself, as the case makes it
      if (is_on_host && extent(read_array(numpys)).overlaps(extent(made))) {
        decline("lies in NumPy's memory");
      }
    }
    if (!is_view) return;
    if (PyList_Size(bases.get()) == 0) decline("is no slice of an array of its library");
    PyObject* const base = PyList_GetItem(bases.get(), PyList_Size(bases.get()) - 1);
    if (!lies_in(extent(read_place(base, producer)), extent(made))) {
      decline("is a copy of the slice");
    }
  } catch (const Failure& failure) {
    if (failure.outcome == Outcome::unsupported) throw;
    decline("cannot be located, so it is unknown if its memory is its library's: " +
            failure.reason);
  } catch (const exchange::ViewError& error) {
    decline("cannot be located, so it is unknown if its memory is its library's: " +
            std::string(error.what()));
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

// A case with an offset lies at a smaller power of two than this, and at no larger one.
constexpr std::uintptr_t kAlignment = 256;
// A library that chooses the addresses of its arrays may have the case's alignment by chance, so
// further arrays must have it as well; of large ones that takes too long.
constexpr std::size_t kAligned = 16;
constexpr std::uint64_t kMostAlignedBytes = 1 << 20;

std::uintptr_t alignment_of(const exchange::View& view) {
  const std::uintptr_t begin = exchange::extent_of(view).begin;
  return begin & (~begin + 1);
}

// Not where the export is wrong, which is a fault that is reported elsewhere.
bool is_as_described(const exchange::View& expected, const exchange::View& made) try {
  return made.untyped || !exchange::on_host(made.device) ||
         exchange::difference(expected, made).empty();
} catch (const exchange::ViewError&) {
  return false;
}

void require_alignment(const Ref& array, const exchange::View& expected, const Library& producer) {
  std::string why;
  try {
    const exchange::View made = read_place(array.get(), producer).view;
    const std::uintptr_t wanted = alignment_of(expected), found = alignment_of(made);
    if (found == wanted) return;
    // A sparse array holds other elements.
    if (made.elements() == expected.elements() && !is_as_described(expected, made)) return;
    decline("lies at a multiple of " + std::to_string(std::min(found, kAlignment)) +
            " bytes; the case is a multiple of " + std::to_string(wanted) + " and no larger one");
  } catch (const Failure& failure) {
    if (failure.outcome == Outcome::unsupported) throw;
    why = failure.reason;
  } catch (const exchange::ViewError& error) {
    why = error.what();
  }
  decline("cannot be located, so its alignment is unknown: " + why);
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
  if (expected.elements() == 0 || alignment_of(expected) >= kAlignment) return pool;
  for (const Ref& array : pool.arrays) require_alignment(array, expected, producer);
  std::vector<Ref> others;  // kept, so that none lies where another lay
  while (others.size() < kAligned && exchange.bytes <= kMostAlignedBytes) {
    others.push_back(make_array(exchange, producer, make_case));
    require_alignment(others.back(), expected, producer);
  }
  return pool;
}

Held content_of(const Ref& make_case) {
  const Ref spec = checked(PyObject_CallNoArgs(make_case.get()));
  // Dtypes that NumPy lacks are integers with the same bits.
  Held content = read_values(checked(PyObject_CallMethod(spec.get(), "stored", nullptr)).get(), {});
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
    Pool made = [&] {
      try {
        return make_pool(exchange, producer, make_case, expected->view);
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

void Arrays::drop_unused() {
  const auto unused = [](const auto& item) { return item.second.use_count() <= 1; };
  std::erase_if(pools_, unused);
  std::erase_if(expected_, unused);
}

}  // namespace dlbench::worker
