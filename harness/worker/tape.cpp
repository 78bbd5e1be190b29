#include "worker/tape.hpp"

#include <algorithm>
#include <utility>

namespace dlbench::worker {
namespace {

std::string compact(PyObject* value) {
  std::string text = repr_of(value);
  std::erase(text, ' ');
  return text.substr(0, 80);
}

}  // namespace

std::string_view Asked::phase() const {
  return spelled.starts_with("__dlpack_device__") ? "query" : "export";
}

Asked asked_method(PyObject* name, PyObject* const* arguments, Py_ssize_t positional,
                   PyObject* keyword_names) {
  Asked call;
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

Asked asked(Asked::How how, std::string spelled, PyObject* name, int flags) {
  Asked request;
  request.how = how;
  request.spelled = std::move(spelled);
  request.name = name;
  request.flags = flags;
  return request;
}

bool is_same(const Tape& a, const Tape& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const Asked& one, const Asked& two) {
    return one.how == two.how && one.spelled == two.spelled && one.raised == two.raised;
  });
}

}  // namespace dlbench::worker
