#include "worker/proxy/recording.hpp"

#include <algorithm>
#include <utility>

namespace dlbench::worker {
namespace {

std::string compact(PyObject* value) {
  std::string text = repr_of(value);
  std::erase(text, ' ');
  return text.substr(0, 80);
}

// The index of a keyword's value among the arguments, or their number if it is absent.
std::size_t place_of(const Request& call, const char* keyword) {
  for (std::size_t i = call.positional; i < call.arguments.size(); ++i) {
    const auto index = static_cast<Py_ssize_t>(i - call.positional);
    PyObject* const name = PyTuple_GET_ITEM(call.keyword_names.get(), index);
    if (PyUnicode_CompareWithASCIIString(name, keyword) == 0) return i;
  }
  return call.arguments.size();
}

// Before version 1.0 `stream` was the only positional argument.
std::size_t stream_place(const Request& call) {
  return call.positional > 0 ? 0 : place_of(call, "stream");
}

}  // namespace

bool Request::is(How which, const char* name_of_it) const {
  return how == which && PyUnicode_CompareWithASCIIString(name, name_of_it) == 0;
}

bool Request::passes(const char* keyword) const {
  const std::size_t place = place_of(*this, keyword);
  return place < arguments.size() && arguments[place].get() != Py_None;
}

std::string_view Request::phase() const {
  return is(How::method, "__dlpack_device__") ? "query" : "export";
}

Request make_method_request(PyObject* name, PyObject* const* arguments, Py_ssize_t positional,
                            PyObject* keyword_names) {
  Request call;
  call.name = name;
  call.positional = static_cast<std::size_t>(positional);
  call.keyword_names = Ref::borrow(keyword_names);
  const Py_ssize_t keywords = keyword_names == nullptr ? 0 : PyTuple_GET_SIZE(keyword_names);
  call.spelled = text_of(name) + "(";
  for (Py_ssize_t i = 0; i < positional + keywords; ++i) {
    if (i > 0) call.spelled += ",";
    if (i >= positional) {
      call.spelled += text_of(PyTuple_GET_ITEM(keyword_names, i - positional)) + "=";
    }
    call.spelled += compact(arguments[i]);
    call.arguments.push_back(Ref::borrow(arguments[i]));
  }
  call.spelled += ")";
  return call;
}

Request make_request(Request::How how, std::string spelled, PyObject* name, int flags) {
  Request request;
  request.how = how;
  request.spelled = std::move(spelled);
  request.name = name;
  request.flags = flags;
  return request;
}

PyObject* stream_of(const Request& call) {
  const std::size_t place = stream_place(call);
  return place < call.arguments.size() ? call.arguments[place].get() : nullptr;
}

void set_request_stream(Request& call, PyObject* stream) {
  const std::size_t place = stream_place(call);
  const bool there = place < call.arguments.size();
  if (there && (stream != nullptr || place < call.positional)) {
    call.arguments[place] = Ref::borrow(stream != nullptr ? stream : Py_None);
    return;
  }
  if (there == (stream != nullptr)) return;
  const Ref names = checked(PyList_New(0));
  for (std::size_t i = call.positional; i < call.arguments.size(); ++i) {
    if (i == place) continue;
    const auto index = static_cast<Py_ssize_t>(i - call.positional);
    PyObject* const name = PyTuple_GET_ITEM(call.keyword_names.get(), index);
    if (PyList_Append(names.get(), name) != 0) throw fetch_failure();
  }
  if (there) {
    call.arguments.erase(call.arguments.begin() + static_cast<std::ptrdiff_t>(place));
  } else {
    const Ref name = checked(PyUnicode_InternFromString("stream"));
    if (PyList_Append(names.get(), name.get()) != 0) throw fetch_failure();
    call.arguments.push_back(Ref::borrow(stream));
  }
  call.keyword_names = checked(PyList_AsTuple(names.get()));
  if (PyTuple_GET_SIZE(call.keyword_names.get()) == 0) call.keyword_names = {};
}

bool is_same(const Recording& a, const Recording& b) {
  return std::equal(
      a.begin(), a.end(), b.begin(), b.end(), [](const Request& one, const Request& two) {
        return one.how == two.how && one.spelled == two.spelled && one.raised == two.raised;
      });
}

}  // namespace dlbench::worker
