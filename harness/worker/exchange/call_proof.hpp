#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "call/body.h"
#include "worker/arrays/arrays.hpp"
#include "worker/judge/judging.hpp"

namespace dlbench::worker {

/// Proves from the record of libdlbench_call.so which arrays reached the body of a consumer's
/// function.
class CallProof {
 public:
  /// `rows` has the arrays of each set, in the order in which the sets are passed. `pool` must
  /// outlive this object. Throws Failure if an array's address cannot be read.
  CallProof(const std::vector<std::vector<PyObject*>>& rows, const Library& producer,
            const Pool& pool);

  /// Judges one call with each set; `call` passes the set of that index and waits. An argument with
  /// another address and the array's values was copied. Throws Failure `wrong` unless the body ran
  /// once, with all arguments in their order and with the right values. The arrays have the same
  /// content, so the order of copies is not proved. An argument that is not copied is proved by its
  /// address and, where the binding describes it to the body, by its shape, strides and dtype.
  /// Arrays without elements prove nothing.
  Judgement judge(const std::function<void(std::size_t row)>& call);

  /// Call these before and after a block of calls that begins with the set `first`. The second
  /// throws Failure `wrong` unless the body ran once in each call and, if nothing is copied, with
  /// the arrays in their order.
  static void begin();
  /// The positions of the arguments that were copied in the calls that were judged.
  const std::vector<std::size_t>& copied() const { return copied_; }
  /// The calls of the body since begin(), and the address that it got in the last one.
  static std::uint64_t calls() {
    dlbench_call_gather();
    return dlbench_call_record.calls;
  }
  static std::uintptr_t address(std::size_t position) {
    return reinterpret_cast<std::uintptr_t>(dlbench_call_record.last[position]);
  }
  void require_calls(std::uint64_t calls, std::size_t first) const;

 private:
  void compare_arguments(std::size_t row);
  void compare_copies(const std::function<void(std::size_t row)>& call, Judgement& judgement);
  std::string compare_content(exchange::View found,
                              const std::function<void(std::size_t row)>& call);

  const Pool& pool_;
  bool have_addresses_;
  std::vector<std::vector<std::uintptr_t>> addresses_;  // of each set
  std::vector<std::vector<exchange::View>> places_;     // of the same arrays
  std::vector<std::uint64_t> sums_;                     // of the same, as the body forms them
  std::vector<dlbench_call_tensor> described_;          // arguments of the last call
  std::vector<std::size_t> copied_;                     // positions
};

}  // namespace dlbench::worker
