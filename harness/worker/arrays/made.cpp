#include "worker/arrays/made.hpp"

#include <algorithm>
#include <optional>

#include "exchange/dtype.hpp"
#include "exchange/layout.hpp"
#include "exchange/restated.hpp"
#include "exchange/text.hpp"
#include "exchange/verdict.hpp"
#include "model/contains.hpp"
#include "worker/arrays/extras.hpp"
#include "worker/arrays/read.hpp"

namespace dlbench::worker {
namespace {

[[noreturn]] void decline(const std::string& why) {
  throw Failure{Outcome::unsupported, "", "the producer's array " + why};
}

bool lies_in(const exchange::Extent& outer, const exchange::Extent& inner) {
  return outer.begin <= inner.begin && inner.end <= outer.end;
}

// A case with an offset lies at a smaller power of two than this, and at no larger one.
constexpr std::uintptr_t kAlignment = 256;

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

// Throws if the producer made the right values with another dtype, because that conversion is not
// part of the exchange. (Wrong values are reported below.)
void require_dtype(const exchange::View& expected, const exchange::View& made) {
  const exchange::View same = exchange::restated(expected, made);
  // The bytes of a dtype that NumPy lacks are read as integers.
  const bool are_bytes = expected.element_bytes() == 1 && same.element_bytes() == 1 &&
                         (made.untyped || !exchange::has_format(expected.dtype));
  if (same.dtype == expected.dtype || are_bytes) return;
  try {
    if (!exchange::difference(expected, made).empty()) return;
  } catch (const exchange::UnknownFormatError&) {
    // Its elements are no numbers, and of another width.
  }
  decline("has dtype " + exchange::to_string(made.dtype) + ", not " +
          exchange::to_string(expected.dtype));
}

std::string strides_of(const exchange::View& view) {
  return exchange::tuple_text(view.strides);
}

bool is_compact(const exchange::View& view) {
  return view.strides == exchange::c_strides(view.shape, view.element_bytes());
}

// Has the array no shape of its own, so that its elements are all that a library could make?
bool is_in_line(PyObject* array, const exchange::View& made) {
  return !optional_attribute(array, "shape") && is_compact(made);
}

exchange::View shaped_as(const exchange::View& expected, exchange::View made) {
  made.shape = expected.shape;
  made.strides = exchange::c_strides(made.shape, made.element_bytes());
  return made;
}

// How an array of the right values differs from the case; empty if it does not. A library that
// allocates its arrays may not have the case's shape, layout or protection. An export
// that does not lead to the values is a fault of the export, which is reported elsewhere.
std::string other_than_case(const exchange::View& expected, const exchange::View& made,
                            PyObject* source, const Library& producer) {
  if (expected.elements() == 0) return {};
  if (made.untyped || made.elements() != expected.elements() ||
      made.element_bytes() != expected.element_bytes()) {
    return is_compact(expected) ? "" : "has no memory with strides " + strides_of(expected);
  }
  const auto is_read = [&](const exchange::View& view) {
    return !exchange::on_host(view.device) || exchange::difference(expected, view).empty();
  };
  if (!is_read(made) && !(is_in_line(source, made) && is_read(shaped_as(expected, made))))
    return {};
  if (made.shape != expected.shape) {
    // A vector may only be had as a row of an image: it is measured with its own shape.
    if (expected.shape.size() == 1 && is_compact(expected)) return {};
    return "has shape " + exchange::tuple_text(made.shape) + ", not " +
           exchange::tuple_text(expected.shape);
  }
  if (const exchange::View own = with_own_strides(made, source); own.strides != expected.strides) {
    return "has strides " + strides_of(own) + ", not " + strides_of(expected);
  }
  const bool is_unprotected =
      expected.readonly && writable_place(source, producer, made.address) == Writable::yes;
  return is_unprotected ? "may be written to" : "";
}

void require_layout(const exchange::View& expected, PyObject* source, const Library& producer,
                    bool was_taken) {
  std::string other;
  try {
    other = other_than_case(expected, read_place(source, producer).view, source, producer);
  } catch (const Failure& failure) {
    if (failure.outcome == Outcome::out_of_memory) throw;
    // A wrong description is reported elsewhere.
    const bool is_hidden = failure.outcome != Outcome::wrong && expected.elements() > 0;
    const bool is_packed = failure.reason.ends_with(exchange::kPacked);
    if (is_hidden && (is_packed || (was_taken && !is_compact(expected)))) {
      other = "cannot be located, so its layout is unknown: " + failure.reason;
    }
  } catch (const exchange::ViewError&) {
  }
  if (!other.empty()) decline(other);
}

}  // namespace

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

bool has_alignment(const exchange::View& expected) {
  return expected.elements() > 0 && alignment_of(expected) < kAlignment;
}

void require_alignment(PyObject* array, const exchange::View& expected, const Library& producer) {
  if (!has_alignment(expected)) return;
  std::string why;
  try {
    const exchange::View made = read_place(array, producer).view;
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

void require_made(const std::string& special, PyObject* array, const exchange::View& wanted,
                  const Library& producer, bool was_taken) {
  const exchange::View expected =
      has_lost_dtype(array, wanted) ? exchange::without_dtype(wanted) : wanted;
  std::optional<Held> made;
  Ref extras;  // empty: not known
  try {
    made = read_values(array, producer);
    extras = extras_of(array, producer);
  } catch (const Failure&) {
    // What cannot be read is not compared.
  }
  if (!made) return require_layout(expected, array, producer, was_taken);
  if (made->view.dtype == exchange::kObjects && expected.dtype != exchange::kObjects) {
    decline("has Python objects as elements");
  }
  const bool is_extra = extras && (special == "nulls" || special == "grad");
  if (is_extra && !contains(words_of(extras), special)) decline("has no " + special);
  if (exchange::on_host(made->view.device)) require_dtype(expected, made->view);
  require_layout(expected, array, producer, was_taken);
}

}  // namespace dlbench::worker
