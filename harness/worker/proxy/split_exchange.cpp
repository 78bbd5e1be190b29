#include "worker/proxy/split_exchange.hpp"

namespace dlbench::worker {

SplitExchange::SplitExchange(ImportCall& import_call, PyObject* array, Shown shown,
                             const Recording& recording, bool forwarded)
    : import_call_(import_call) {
  if (!recording.empty()) source_.emplace(import_call, array, shown, recording, forwarded);
}

const Recording& SplitExchange::recording() const {
  static const Recording none;
  return source_ ? source_->recording() : none;
}

void SplitExchange::set_stream(PyObject* stream) {
  if (source_) source_->replay().set_stream(stream);
}

void SplitExchange::begin(PyObject* array) {
  array_ = array;
  if (!source_) return;
  source_->replay().rewind();
  scope_.reset(new PatchedType::Scope(source_->scope()));
}

void SplitExchange::export_array() {
  for (std::size_t i = 0; i < recording().size(); ++i) {
    if (!source_->replay().play(i, array_)) throw fetch_failure();
  }
}

Ref SplitExchange::import_array() {
  Ref result = Ref::steal(source_ ? source_->import(array_) : import_call_(array_));
  // The result may have the patched type, and its values are read next.
  scope_.reset();
  if (!result) throw fetch_failure();
  if (source_ && !source_->replay().is_done()) {
    throw Failure{Outcome::no_protocol, "", "the consumer behaves differently with a proxy"};
  }
  return result;
}

void SplitExchange::end() {
  scope_.reset();
  array_ = nullptr;
  if (source_) source_->replay().rewind();
}

}  // namespace dlbench::worker
