#pragma once

#include <dlpack/dlpack.h>

#include <atomic>
#include <memory>
#include <vector>

#include "exchange/view.hpp"
#include "worker/base/py.hpp"

namespace dlbench::worker {

/// The part of an exchange in which a deleter runs.
enum class When { import, release, later };

/// A managed tensor in a wrapper that counts the calls of its deleter.
struct BorrowedTensor {
  exchange::View view;
  std::uint64_t flags = 0;
  bool has_deleter = true;
  std::atomic<int> deletions{0};
  std::atomic<When> ended{When::later};          ///< when it was first deleted
  std::shared_ptr<const std::atomic<When>> now;  ///< the current part; shared, because a deleter
                                                 ///< may run after BorrowedTensors
  std::shared_ptr<BorrowedTensor> outstanding;   ///< this object, until its deleter runs
};

/// The managed tensors that a producer exports in one untimed exchange. While this object lives, a
/// second call of a deleter is counted and harmless.
class BorrowedTensors {
 public:
  /// Consumes a DLPack capsule and returns one with the wrapper; returns any other object
  /// unchanged. Steals the reference. Null with an exception set if no memory is left.
  PyObject* pass_on(PyObject* capsule);

  /// The same for the C exchange API.
  void pass_on(DLManagedTensorVersioned*& managed);

  /// Sets the current part.
  void now(When when) { *now_ = when; }

  const std::vector<std::shared_ptr<BorrowedTensor>>& all() const { return all_; }

 private:
  template <typename Managed>
  Managed* wrap(Managed* original);

  std::vector<std::shared_ptr<BorrowedTensor>> all_;
  std::shared_ptr<std::atomic<When>> now_ = std::make_shared<std::atomic<When>>(When::later);
};

}  // namespace dlbench::worker
