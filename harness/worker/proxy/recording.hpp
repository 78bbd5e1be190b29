#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// One request of a consumer to a producer's array, ready to be repeated from C++.
struct Request {
  enum class How {
    method,    ///< a call of `name`
    property,  ///< a read of the attribute `name`
    buffer,    ///< PyObject_GetBuffer with `flags`
    managed,   ///< managed_tensor_from_py_object_no_sync of the C exchange API
    borrowed,  ///< dltensor_from_py_object_no_sync
  };

  How how = How::method;
  std::string spelled;         ///< for people: "__dlpack__(max_version=(1,0))"
  PyObject* name = nullptr;    ///< interned, never freed; null without a name
  std::vector<Ref> arguments;  ///< positional ones, then those of the keywords
  std::size_t positional = 0;
  Ref keyword_names;  ///< tuple, or empty
  int flags = 0;
  bool raised = false;
  bool ours = false;  ///< dlbench raised instead of the producer, such as a legacy proxy

  /// Is it a call of the method, or a read of the property, of this name?
  bool is(How which, const char* name_of_it) const;
  /// Does it pass this keyword, with a value other than None?
  bool passes(const char* keyword) const;
  /// The phase of the request: "query" for the device, otherwise "export".
  std::string_view phase() const;
};

/// In the order of the requests.
using Recording = std::vector<Request>;

/// Makes a request from the arguments of a vectorcall, without the object itself.
Request make_method_request(PyObject* name, PyObject* const* arguments, Py_ssize_t positional,
                            PyObject* keyword_names);

/// Makes any other request. `name` may be null.
Request make_request(Request::How how, std::string spelled, PyObject* name = nullptr,
                     int flags = 0);

/// The `stream` argument of a `__dlpack__` call; null if it has none. Borrowed.
PyObject* stream_of(const Request& call);

/// Replaces the argument, or removes it if `stream` is null.
void set_request_stream(Request& call, PyObject* stream);

/// Are both the same requests in the same order, with the same results?
bool is_same(const Recording& a, const Recording& b);

}  // namespace dlbench::worker
