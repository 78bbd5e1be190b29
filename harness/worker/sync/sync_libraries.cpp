#include "worker/sync/sync_libraries.hpp"

#include <algorithm>
#include <cstring>

namespace dlbench::worker {

bool has_own_stream(const Library& consumer) {
  PyObject* const file = consumer.consumer.get();
  return file != nullptr && optional_attribute(file, "stream") &&
         !optional_attribute(file, "on_stream");
}

bool can_set_stream(const Library& library) {
  return bool(library.function("on_stream"));
}

bool has_compute_from(const Library& producer) {
  return bool(producer.function("compute_from"));
}

bool reads_by_snapshot(const Library& consumer) {
  return !has_own_stream(consumer) && !can_set_stream(consumer) &&
         bool(consumer.function("snapshot"));
}

Ref file_with_on_stream(const Library& library, Ref Library::*role) {
  for (const Ref* const file : {&(library.*role), &library.consumer, &library.producer}) {
    if (*file && optional_attribute(file->get(), "on_stream")) return Ref::borrow(file->get());
  }
  return {};
}

OnStream::OnStream(const Library& library, Ref Library::*role, const std::string& device,
                   const Ref& stream) {
  const Ref file = file_with_on_stream(library, role);
  if (!stream || !file) return;
  Ref context =
      checked(PyObject_CallMethod(file.get(), "on_stream", "sO", device.c_str(), stream.get()));
  checked(PyObject_CallMethod(context.get(), "__enter__", nullptr));
  context_ = std::move(context);
}

OnStream::~OnStream() {
  if (!context_) return;
  PyObject* const left =
      PyObject_CallMethod(context_.get(), "__exit__", "OOO", Py_None, Py_None, Py_None);
  if (left == nullptr) PyErr_Clear();
  Py_XDECREF(left);
}

LastNonzero find_last_nonzero(const exchange::View& expected) {
  const auto size = static_cast<std::size_t>(expected.element_bytes());
  const bool line = expected.shape.size() == 1 && expected.shape[0] > 0 &&
                    expected.strides[0] == static_cast<std::int64_t>(size);
  if (!line) {
    throw Failure{Outcome::unsupported, "",
                  "synchronization can be tested only with contiguous 1-d arrays"};
  }
  const auto* const content = reinterpret_cast<const unsigned char*>(expected.address);
  for (auto i = static_cast<std::size_t>(expected.shape[0]); i-- > 0;) {
    const unsigned char* const element = content + i * size;
    if (std::any_of(element, element + size, [](unsigned char byte) { return byte != 0; })) {
      return {i * size, {element, element + size}};
    }
  }
  throw Failure{Outcome::unsupported, "",
                "the content is all zeros, so new and old content cannot be distinguished"};
}

}  // namespace dlbench::worker
