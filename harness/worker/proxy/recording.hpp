#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "worker/base/py.hpp"

namespace dlbench::worker {

/// One thing that a consumer asked of a producer's array, ready to be asked again from C++.
struct Asked {
  enum class How {
    method,    ///< a call of `name`
    property,  ///< a reading of `name`
    buffer,    ///< PyObject_GetBuffer with `flags`
    managed,   ///< managed_tensor_from_py_object_no_sync of the C exchange API
    borrowed,  ///< dltensor_from_py_object_no_sync
  };

  How how = How::method;
  std::string spelled;         ///< "__dlpack__(max_version=(1,0))"
  PyObject* name = nullptr;    ///< interned, lives for ever; null without a name
  std::vector<Ref> arguments;  ///< positional ones, then those of the keywords
  std::size_t positional = 0;
  Ref keyword_names;  ///< tuple, or empty
  int flags = 0;
  bool raised = false;
  bool ours = false;  ///< raised in the producer's place, as by a legacy proxy

  /// The phase that answering it belongs to: "query" for the device, else "export".
  std::string_view phase() const;
};

/// In the order in which they were asked.
using Recording = std::vector<Asked>;

/// A call from a vectorcall's arguments, the object itself left out.
Asked asked_method(PyObject* name, PyObject* const* arguments, Py_ssize_t positional,
                   PyObject* keyword_names);

/// Any other request. `name` may be null.
Asked asked(Asked::How how, std::string spelled, PyObject* name = nullptr, int flags = 0);

/// The `stream` that a call of `__dlpack__` passes; null where it passes none. Borrowed.
PyObject* stream_of(const Asked& call);

/// Puts another in its place, or, with null, leaves it out.
void give_stream(Asked& call, PyObject* stream);

/// Do both ask the same in the same order, with the same result?
bool is_same(const Recording& a, const Recording& b);

}  // namespace dlbench::worker
