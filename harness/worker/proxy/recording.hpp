#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// One request of a consumer to a producer's array, ready to be repeated from C++.
struct Asked {
  enum class How {
    method,    ///< a call of `name`
    property,  ///< a read of the attribute `name`
    buffer,    ///< PyObject_GetBuffer with `flags`
    managed,   ///< managed_tensor_from_py_object_no_sync of the C exchange API
    borrowed,  ///< dltensor_from_py_object_no_sync
  };

  How how = How::method;
  std::string spelled;         ///< "__dlpack__(max_version=(1,0))"
  PyObject* name = nullptr;    ///< interned, never freed; null without a name
  std::vector<Ref> arguments;  ///< positional ones, then those of the keywords
  std::size_t positional = 0;
  Ref keyword_names;  ///< tuple, or empty
  int flags = 0;
  bool raised = false;
  bool ours = false;  ///< raised in the producer's place, as by a legacy proxy

  /// The phase of its answer: "query" for the device, else "export".
  std::string_view phase() const;
};

/// In the order of the requests.
using Recording = std::vector<Asked>;

/// Made from a vectorcall's arguments, without the object itself.
Asked asked_method(PyObject* name, PyObject* const* arguments, Py_ssize_t positional,
                   PyObject* keyword_names);

/// Any other request. `name` may be null.
Asked asked(Asked::How how, std::string spelled, PyObject* name = nullptr, int flags = 0);

/// The `stream` argument of a `__dlpack__` call; null where it has none. Borrowed.
PyObject* stream_of(const Asked& call);

/// Replaces it, or, with null, leaves it out.
void give_stream(Asked& call, PyObject* stream);

/// Are both the same requests in the same order, with the same results?
bool is_same(const Recording& a, const Recording& b);

}  // namespace dlbench::worker
