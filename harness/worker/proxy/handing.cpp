#include "worker/proxy/handing.hpp"

namespace dlbench::worker {

Handing::Handing(Crossing& crossing, PyObject* array, Shown shown, const Tape& tape, bool forwarded)
    : crossing_(crossing) {
  if (!tape.empty()) stand_in_.emplace(crossing, array, shown, tape, forwarded);
}

const Tape& Handing::tape() const {
  static const Tape none;
  return stand_in_ ? stand_in_->tape() : none;
}

void Handing::set_stream(PyObject* stream) {
  if (stand_in_) stand_in_->replay().set_stream(stream);
}

void Handing::begin(PyObject* array) {
  array_ = array;
  if (!stand_in_) return;
  stand_in_->replay().rewind();
  scope_.reset(new PatchedType::Scope(stand_in_->scope()));
}

void Handing::give() {
  for (std::size_t i = 0; i < tape().size(); ++i) {
    if (!stand_in_->replay().play(i, array_)) throw fetch_failure();
  }
}

Ref Handing::take() {
  Ref result = Ref::steal(stand_in_ ? stand_in_->import(array_) : crossing_(array_));
  // The result may be of the patched type, and is asked for its values next.
  scope_.reset();
  if (!result) throw fetch_failure();
  if (stand_in_ && !stand_in_->replay().is_done()) {
    throw Failure{Outcome::no_protocol, "",
                  "the consumer takes another path when it is shown a relay"};
  }
  return result;
}

void Handing::end() {
  scope_.reset();
  array_ = nullptr;
  if (stand_in_) stand_in_->replay().rewind();
}

}  // namespace dlbench::worker
