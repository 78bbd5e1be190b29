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

/// One managed tensor on its way to a consumer, in a wrapping of ours that counts its deletions.
struct BorrowedTensor {
  exchange::View view;
  std::uint64_t flags = 0;
  bool has_deleter = true;
  std::atomic<int> deletions{0};
  std::atomic<When> ended{When::later};          ///< the first of them
  std::shared_ptr<const std::atomic<When>> now;  ///< what goes on; outlives whoever exported it
  std::shared_ptr<BorrowedTensor> outstanding;   ///< itself, until it is given back
};

/// What a producer exported during one untimed exchange. A second call of a deleter is counted and
/// does no harm as long as this object lives.
class BorrowedTensors {
 public:
  /// Consumes a DLPack capsule and returns one of ours in its place; hands anything else back as it
  /// is. Steals the reference; null with an exception set where Python has no memory left.
  PyObject* pass_on(PyObject* capsule);

  /// The same for the C exchange API.
  void pass_on(DLManagedTensorVersioned*& managed);

  /// What goes on from now on.
  void now(When when) { *now_ = when; }

  const std::vector<std::shared_ptr<BorrowedTensor>>& all() const { return all_; }

 private:
  template <typename Managed>
  Managed* wrap(Managed* original);

  std::vector<std::shared_ptr<BorrowedTensor>> all_;
  std::shared_ptr<std::atomic<When>> now_ = std::make_shared<std::atomic<When>>(When::later);
};

}  // namespace dlbench::worker
