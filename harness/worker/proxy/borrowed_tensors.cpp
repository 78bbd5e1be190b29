#include "worker/proxy/borrowed_tensors.hpp"

#include <algorithm>
#include <type_traits>

#include "exchange/python/pending_error.hpp"
#include "exchange/read.hpp"

namespace dlbench::worker {
namespace {

constexpr const char* kVersioned = "dltensor_versioned";
constexpr const char* kLegacy = "dltensor";

template <typename Managed>
constexpr const char* kName = std::is_same_v<Managed, DLManagedTensor> ? kLegacy : kVersioned;

template <typename Managed>
struct BorrowedOf : BorrowedTensor {
  Managed managed;
  Managed* original;

  explicit BorrowedOf(Managed* from) : managed(*from), original(from) {
    managed.manager_ctx = this;
    managed.deleter = &BorrowedOf::delete_tensor;
  }

  // Called on any thread, with or without the GIL.
  static void delete_tensor(Managed* self) {
    auto* borrowed = static_cast<BorrowedOf*>(self->manager_ctx);
    if (borrowed->deletions.fetch_add(1) > 0) return;
    borrowed->ended = borrowed->now->load();
    const std::shared_ptr<BorrowedTensor> held = std::move(borrowed->outstanding);
    borrowed->original->deleter(borrowed->original);
  }
};

// A consumed capsule has another name. Only an unconsumed capsule deletes its content.
template <typename Managed>
void drop(PyObject* capsule) {
  if (!PyCapsule_IsValid(capsule, kName<Managed>)) return;
  auto* managed = static_cast<Managed*>(PyCapsule_GetPointer(capsule, kName<Managed>));
  const PendingError kept;
  managed->deleter(managed);
}

}  // namespace

template <typename Managed>
Managed* BorrowedTensors::wrap(Managed* original) {
  // An unreadable tensor is passed on, so that the consumer rejects it. A tensor without a deleter
  // is not wrapped.
  exchange::View view;
  try {
    view = exchange::read(*original);
  } catch (const exchange::ViewError&) {
    return original;
  }
  auto borrowed = std::make_shared<BorrowedOf<Managed>>(original);
  borrowed->view = std::move(view);
  if constexpr (std::is_same_v<Managed, DLManagedTensorVersioned>)
    borrowed->flags = original->flags;
  borrowed->has_deleter = original->deleter != nullptr;
  borrowed->now = now_;
  all_.push_back(borrowed);
  if (!borrowed->has_deleter) return original;
  borrowed->outstanding = borrowed;
  return &borrowed->managed;
}

PyObject* BorrowedTensors::pass_on(PyObject* capsule) {
  const auto replaced = [&]<typename Managed>(const char* used, Managed* original) -> PyObject* {
    Managed* managed = wrap(original);
    if (managed == original) return capsule;
    PyObject* ours = PyCapsule_New(managed, kName<Managed>, &drop<Managed>);
    if (ours == nullptr) {
      const PendingError kept;
      managed->deleter(managed);
    }
    PyCapsule_SetName(capsule, used);
    Py_DECREF(capsule);
    return ours;
  };
  if (PyCapsule_IsValid(capsule, kVersioned)) {
    return replaced("used_dltensor_versioned", static_cast<DLManagedTensorVersioned*>(
                                                   PyCapsule_GetPointer(capsule, kVersioned)));
  }
  if (PyCapsule_IsValid(capsule, kLegacy)) {
    return replaced("used_dltensor",
                    static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, kLegacy)));
  }
  return capsule;
}

void BorrowedTensors::pass_on(DLManagedTensorVersioned*& managed) {
  managed = wrap(managed);
}

}  // namespace dlbench::worker
