#include "worker/judge/outliving.hpp"

#include "exchange/layout.hpp"
#include "model/codes.hpp"
#include "worker/base/garbage.hpp"
#include "worker/judge/values.hpp"
#include "worker/library/device_memory.hpp"

namespace dlbench::worker {
namespace {

constexpr unsigned char kPoison = 0xa5;
constexpr int kNext = 3;  // arrays that the producer makes after the dropped one

/// Allocates and overwrites memory of the size that was just freed, which is most likely the same
/// memory.
class Poison {
 public:
  explicit Poison(std::initializer_list<std::uint64_t> sizes) {
    const Ref numpy = checked(PyImport_ImportModule("numpy"));
    for (const std::uint64_t size : sizes) {
      for (int i = 0; i < kBlocks; ++i) {
        // NumPy caches small blocks; other libraries use malloc.
        arrays_.push_back(checked(PyObject_CallMethod(
            numpy.get(), "full", "Kis", static_cast<unsigned long long>(size), kPoison, "uint8")));
        blocks_.emplace_back(size, kPoison);
      }
    }
  }

 private:
  static constexpr int kBlocks = 3;
  std::vector<Ref> arrays_;
  std::vector<std::vector<unsigned char>> blocks_;
};

}  // namespace

std::string require_outliving(Ref array, const std::function<Ref(const Ref&)>& import,
                              const std::function<void(PyObject*)>& wait,
                              const std::function<Ref()>& make_spoiled, const Library& consumer,
                              const exchange::View& expected, exchange::Missing missing,
                              std::uint64_t room) {
  const Ref result = import(array);
  exchange::Device where;
  try {
    where = read_place(result.get(), consumer).view.device;
  } catch (const Failure&) {
    // The address is unknown, so only host memory is overwritten.
  } catch (const exchange::ViewError&) {
    return "";
  }
  array = {};
  collect_garbage();
  const Poison poison{expected.bytes(), room};
  std::vector<Ref> next;
  if (!exchange::on_host(where)) {
    for (int i = 0; i < kNext; ++i) next.push_back(make_spoiled());
  }
  std::string why_not;
  try {
    spoil_freed_memory(where, expected.bytes());
  } catch (const Failure& failure) {
    // A failure here is not one of the exchange.
    why_not = failure.reason;
  }
  wait(result.get());
  std::string first;
  try {
    first = compare_values(expected, result.get(), consumer, missing).difference;
  } catch (const Failure& failure) {
    // A result that cannot be read was reported while the array was alive.
    if (failure.outcome == Outcome::wrong) first = failure.reason;
  } catch (const exchange::ViewError&) {
    return why_not;
  }
  if (first.empty()) return why_not;
  throw Failure{Outcome::wrong, "",
                "the values changed after the producer's array was dropped: " + first,
                std::string(codes::kDiffersAfterDrop)};
}

}  // namespace dlbench::worker
