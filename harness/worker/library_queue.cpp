#include "worker/library_queue.hpp"

#include <cstring>

#include "exchange/layout.hpp"
#include "exchange/verdict.hpp"
#include "worker/exported.hpp"

namespace dlbench::worker {

using sync::Content;

LibraryQueue::LibraryQueue(const Ends& ends, Handing& handing, Ref producer_stream)
    : ends_(ends),
      handing_(handing),
      busy_(ends.producer.function("busy")),
      stream_(std::move(producer_stream)),
      place_(telling_place(ends.expected->view)) {}

// `busy` returns an array, or one with its address, where asking for that would wait.
void LibraryQueue::arm(sync::Ns delay) {
  const Ref spec = checked(PyObject_CallNoArgs(ends_.make_case.get()));
  const OnStream inside(ends_.producer, &Library::producer, ends_.exchange.device, stream_);
  array_ =
      checked(PyObject_CallFunction(busy_.get(), "Osd", spec.get(), ends_.exchange.device.c_str(),
                                    static_cast<double>(delay) * 1e-9));
  if (PyTuple_Check(array_.get()) && PyTuple_GET_SIZE(array_.get()) == 2) {
    address_ = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(array_.get(), 1));
    if (PyErr_Occurred() != nullptr) throw fetch_failure();
    array_ = Ref::borrow(PyTuple_GET_ITEM(array_.get(), 0));
  } else {
    address_ = read_place(array_.get(), ends_.producer).view.address;
  }
  shown_ = ends_.exported ? make_exported_like(ends_.exported.get(), array_.get()) : Ref();
  handing_.begin(shown_ ? shown_.get() : array_.get());
}

Content LibraryQueue::peek() const {
  const auto* const element = reinterpret_cast<const unsigned char*>(address_ + place_.offset);
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
  wait(ends_.consumer, Ref::borrow(seen));
  const Held values = read_values(seen, ends_.consumer);
  // A consumer with no read of its own there (a SYCL array in tvm_ffi): the host reads the memory
  // where it lies, as its user would have to.
  if (!exchange::on_host(values.view.device) && values.view.address == address_) return peek();
  return exchange::difference(ends_.expected->view, values.view).empty() ? Content::New
                                                                         : Content::Old;
}

void LibraryQueue::wait(const Library& library, const Ref& array) const {
  const Ref ready = library.function("ready");
  if (ready && array) checked(PyObject_CallOneArg(ready.get(), array.get()));
}

void LibraryQueue::settle() {
  handing_.end();
  for (const auto& [library, array] :
       {std::pair(&ends_.producer, &array_), std::pair(&ends_.consumer, &result_)}) {
    try {
      wait(*library, *array);
    } catch (const Failure&) {
      // Nothing more can be done for it.
    }
  }
  copy_ = result_ = shown_ = array_ = {};
}

sync::Queue LibraryQueue::queue() {
  sync::Queue made;
  made.arm = [this](sync::Ns delay, sync::Ns) { arm(delay); };
  made.peek = [this] { return peek(); };
  made.give = [this] { handing_.give(); };
  made.take = [this] { result_ = handing_.take(); };
  made.read = [this] { return read(); };
  made.settle = [this] { settle(); };
  return made;
}

}  // namespace dlbench::worker
