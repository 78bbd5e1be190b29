#include "worker/sync/library_queue.hpp"

#include <cstring>

#include "exchange/layout.hpp"
#include "exchange/verdict.hpp"
#include "worker/arrays/read.hpp"

namespace dlbench::worker {

using sync::Content;

LibraryQueue::LibraryQueue(const SyncLibraries& libraries, SplitExchange& split,
                           Ref producer_stream)
    : libraries_(libraries),
      split_(split),
      stream_(std::move(producer_stream)),
      place_(find_last_nonzero(libraries.expected->view)) {}

void LibraryQueue::arm(sync::Ns delay) {
  busy_ = make_busy(libraries_, stream_, delay);
  split_.begin(busy_.shown());
}

Content LibraryQueue::peek() const {
  const auto* const element = reinterpret_cast<const unsigned char*>(busy_.address + place_.offset);
  // Another thread may write the content and may need the GIL for it.
  Py_BEGIN_ALLOW_THREADS Py_END_ALLOW_THREADS asm volatile("" : : : "memory");
  return std::memcmp(element, place_.bytes.data(), place_.bytes.size()) == 0 ? Content::New
                                                                             : Content::Old;
}

Content LibraryQueue::read() {
  PyObject* observed = result_.get();
  if (const Ref snapshot = libraries_.consumer.function("snapshot")) {
    copy_ = checked(PyObject_CallOneArg(snapshot.get(), observed));
    observed = copy_.get();
  }
  wait_for(libraries_.consumer, Ref::borrow(observed));
  const Held values = read_values(observed, libraries_.consumer);
  // If the consumer cannot read the memory (a SYCL array in tvm_ffi), read it from the host.
  if (!exchange::on_host(values.view.device) && values.view.address == busy_.address) return peek();
  return exchange::difference(libraries_.expected->view, values.view).empty() ? Content::New
                                                                              : Content::Old;
}

void LibraryQueue::settle() {
  split_.end();
  for (const auto& [library, array] :
       {std::pair(&libraries_.producer, &busy_.array), std::pair(&libraries_.consumer, &result_)}) {
    try {
      wait_for(*library, *array);
    } catch (const Failure&) {
      // Called while cleaning up, so a failure is ignored.
    }
  }
  copy_ = result_ = {};
  busy_ = {};
}

sync::Queue LibraryQueue::queue() {
  sync::Queue made;
  made.arm = [this](sync::Ns delay, sync::Ns) { arm(delay); };
  made.peek = [this] { return peek(); };
  made.export_array = [this] { split_.export_array(); };
  made.import_array = [this] { result_ = split_.import_array(); };
  made.read = [this] { return read(); };
  made.settle = [this] { settle(); };
  return made;
}

}  // namespace dlbench::worker
