#include "worker/sync/library_queue.hpp"

#include <cstring>

#include "exchange/layout.hpp"
#include "exchange/verdict.hpp"
#include "worker/library/read.hpp"

namespace dlbench::worker {

using sync::Content;

LibraryQueue::LibraryQueue(const Ends& ends, SplitExchange& split, Ref producer_stream)
    : ends_(ends),
      split_(split),
      stream_(std::move(producer_stream)),
      place_(telling_place(ends.expected->view)) {}

void LibraryQueue::arm(sync::Ns delay) {
  busy_ = make_busy(ends_, stream_, delay);
  split_.begin(busy_.shown());
}

Content LibraryQueue::peek() const {
  const auto* const element = reinterpret_cast<const unsigned char*>(busy_.address + place_.offset);
  // Another thread may be writing it, or hold the interpreter's lock to get there.
  Py_BEGIN_ALLOW_THREADS Py_END_ALLOW_THREADS asm volatile("" : : : "memory");
  return std::memcmp(element, place_.bytes.data(), place_.bytes.size()) == 0 ? Content::New
                                                                             : Content::Old;
}

Content LibraryQueue::read() {
  PyObject* seen = result_.get();
  if (const Ref snapshot = ends_.consumer.function("snapshot")) {
    copy_ = checked(PyObject_CallOneArg(snapshot.get(), seen));
    seen = copy_.get();
  }
  wait_for(ends_.consumer, Ref::borrow(seen));
  const Held values = read_values(seen, ends_.consumer);
  // A consumer with no read of its own there (a SYCL array in tvm_ffi): the host reads the memory
  // where it lies, as its user would have to.
  if (!exchange::on_host(values.view.device) && values.view.address == busy_.address) return peek();
  return exchange::difference(ends_.expected->view, values.view).empty() ? Content::New
                                                                         : Content::Old;
}

void LibraryQueue::settle() {
  split_.end();
  for (const auto& [library, array] :
       {std::pair(&ends_.producer, &busy_.array), std::pair(&ends_.consumer, &result_)}) {
    try {
      wait_for(*library, *array);
    } catch (const Failure&) {
      // A failure here cannot be handled.
    }
  }
  copy_ = result_ = {};
  busy_ = {};
}

sync::Queue LibraryQueue::queue() {
  sync::Queue made;
  made.arm = [this](sync::Ns delay, sync::Ns) { arm(delay); };
  made.peek = [this] { return peek(); };
  made.give = [this] { split_.give(); };
  made.take = [this] { result_ = split_.take(); };
  made.read = [this] { return read(); };
  made.settle = [this] { settle(); };
  return made;
}

}  // namespace dlbench::worker
