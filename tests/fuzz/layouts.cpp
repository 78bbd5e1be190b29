// What foreign structs say of where elements lie, as the judge of `check` and the native halves
// take it, and the tables that types publish. What is taken lies where the description says.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "../../producers/native/layout.hpp"
#include "exchange/api_table.hpp"
#include "exchange/elements.hpp"
#include "exchange/layout.hpp"
#include "input.hpp"

namespace {

using dlbench::fuzz::Input;
using dlbench::fuzz::require;
using dlbench::fuzz::require_text;
__extension__ typedef __int128 Wide;
using Numbers = std::vector<std::int64_t>;

constexpr std::size_t kArena = 4096;

Numbers numbers(Input& in, std::size_t count) {
  Numbers values(count);
  std::generate(values.begin(), values.end(), [&] { return in.number(); });
  return values;
}

/// From the lowest byte to past the highest one, as numbers that do not overflow.
struct Span {
  Wide low = 0, high = 0;
};

Span span_of(const Numbers& shape, const Numbers& strides, Wide unit, Wide element) {
  Span span{0, element};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    const Wide way = Wide{strides[d]} * unit * (shape[d] - 1);
    (way < 0 ? span.low : span.high) += way;
  }
  return span;
}

Numbers compact(const Numbers& shape) {
  Numbers strides(shape.size(), 1);
  for (std::size_t d = shape.size(); d-- > 1;) strides[d - 1] = strides[d] * shape[d];
  return strides;
}

bool is_empty(const Numbers& shape) {
  return std::find(shape.begin(), shape.end(), 0) != shape.end();
}

/// Walks as slowly as can be: which bytes are the elements, in C order.
std::vector<std::byte> walk(const std::byte* first, const Numbers& shape, const Numbers& strides,
                            std::size_t element) {
  std::vector<std::byte> found;
  Numbers index(shape.size());
  while (!is_empty(shape)) {
    std::int64_t at = 0;
    for (std::size_t d = 0; d < index.size(); ++d) at += index[d] * strides[d];
    found.insert(found.end(), first + at, first + at + element);
    std::size_t d = index.size();
    while (d-- > 0 && ++index[d] == shape[d]) index[d] = 0;
    if (d == static_cast<std::size_t>(-1)) break;
  }
  return found;
}

void elements(Input& in, std::vector<std::byte>& arena) {
  const Numbers shape = numbers(in, in.usual() ? in.below(5) : in.below(70));
  const bool has_strides = in.usual();
  const Numbers given = numbers(in, in.usual() ? shape.size() : in.below(70));
  const std::int64_t item = in.usual() ? std::array{1, 2, 4, 8}.at(in.below(4)) : in.number();
  const auto begin = reinterpret_cast<std::uintptr_t>(arena.data());
  const std::uintptr_t address = in.usual() ? begin + in.below(kArena) : in.word();
  const dlbench::exchange::Elements taken(
      address, shape,
      has_strides ? std::optional<std::span<const std::int64_t>>(given) : std::nullopt, item);
  Wide bytes = is_empty(shape) ? 0 : item;
  for (const std::int64_t extent : shape) bytes = bytes == 0 ? 0 : bytes * extent;
  require(Wide{taken.bytes()} == bytes, "its bytes are counted");
  if (bytes == 0) return;
  Numbers strides = has_strides ? given : compact(shape);
  if (!has_strides) {
    for (std::int64_t& stride : strides) stride *= item;
  }
  const Span span = span_of(shape, strides, 1, item);
  require(address + span.low > 0 && address + span.high <= Wide{~std::uintptr_t{0}},
          "it has addresses");
  const bool is_there = address + span.low >= begin && address + span.high <= begin + kArena;
  if (!is_there || bytes > Wide{1 << 16}) return;
  std::vector<std::byte> packed(taken.bytes());
  taken.pack(packed.data());
  const auto* first = arena.data() + (address - begin);
  require(packed == walk(first, shape, strides, static_cast<std::size_t>(item)),
          "the elements are packed");
}

void native(Input& in, std::vector<std::byte>& arena) {
  using dlbench::native::kDtypes;
  constexpr std::array<int, 6> kEdges{
      -1, 64, 65, std::numeric_limits<int>::max(), std::numeric_limits<int>::min(), 63};
  const int ndim = in.usual() ? static_cast<int>(in.below(5)) : kEdges.at(in.below(kEdges.size()));
  const auto room = static_cast<std::size_t>(std::clamp(ndim, 0, 64));
  const Numbers shape = numbers(in, room), strides = numbers(in, room);
  const bool has_shape = in.usual() && !shape.empty(), has_strides = in.usual();
  dlbench::native::Layout layout;
  layout.dtype = &kDtypes.at(in.below(kDtypes.size()));
  const std::intptr_t element = layout.dtype->bytes;
  const std::intptr_t unit = in.usual() ? element : 1;
  const char* const flaw = layout.assign(ndim, has_shape ? shape.data() : nullptr,
                                         has_strides ? strides.data() : nullptr, unit);
  if (flaw != nullptr) return require_text(flaw);
  require(ndim >= 0 && layout.shape.size() == room && layout.strides.size() == room,
          "the dimensions are reported");
  require(std::equal(layout.shape.begin(), layout.shape.end(), shape.begin()),
          "the shape is reported");
  const bool in_order = layout.is_c_contiguous(), reversed = layout.is_f_contiguous();
  Wide count = 1;
  for (const std::int64_t extent : shape) count = is_empty(shape) ? 0 : count * extent;
  require(Wide{layout.elements()} == count, "the elements are counted");
  if (count == 0)
    return require(layout.low() == 0 && layout.high() == 0, "nothing reaches nowhere");
  const Span span =
      has_strides ? span_of(shape, strides, unit, element) : Span{0, count * Wide{element}};
  require(Wide{layout.low()} == span.low && Wide{layout.high()} == span.high,
          "its reach is reported");
  if (in_order && reversed) require(span.high - span.low == count * element, "it has no gaps");
  if (span.high - span.low > Wide{kArena} || count > Wide{kArena}) return;
  const std::byte* first = arena.data() - static_cast<std::intptr_t>(span.low);
  std::vector<std::byte> packed(static_cast<std::size_t>(count * element));
  require(layout.pack(first, packed.data()) == packed.data() + packed.size(), "it is packed");
  const Numbers steps(layout.strides.begin(), layout.strides.end());
  require(packed == walk(first, shape, steps, static_cast<std::size_t>(element)),
          "the elements are packed");
  if (in_order) {
    require(std::equal(packed.begin(), packed.end(), first), "in C order they lie as packed");
  }
}

int export_array(void*, DLManagedTensorVersioned**) {
  return 0;
}

void tables(Input& in) {
  std::array<DLPackExchangeAPI, 4> all{};
  const auto somewhere = [&]() -> std::uintptr_t {
    if (!in.usual()) return in.usual() ? in.below(64) : in.word();
    return in.usual() ? reinterpret_cast<std::uintptr_t>(&all.at(in.below(all.size()))) : 0;
  };
  for (DLPackExchangeAPI& one : all) {
    one.header.version = {static_cast<std::uint32_t>(in.byte() % 4), in.byte()};
    one.header.prev_api =
        static_cast<DLPackExchangeAPIHeader*>(dlbench::exchange::memory_at(somewhere()));
    if (in.usual()) one.managed_tensor_from_py_object_no_sync = &export_array;
  }
  const auto begin = reinterpret_cast<std::uintptr_t>(all.data());
  int asked = 0;
  const auto is_readable = [&](std::uintptr_t address, std::size_t bytes) {
    ++asked;
    return address >= begin && address <= begin + sizeof all &&
           bytes <= begin + sizeof all - address;
  };
  const dlbench::exchange::FoundTable found =
      dlbench::exchange::find_table(dlbench::exchange::memory_at(somewhere()), is_readable);
  require(asked <= 65, "it comes to an end");
  require(found.table == nullptr || found.flaw == nullptr, "a table or a flaw");
  if (found.flaw != nullptr) require_text(found.flaw);
  if (found.table == nullptr) return;
  require(found.table->header.version.major == DLPACK_MAJOR_VERSION, "it is of our version");
  require(found.table->managed_tensor_from_py_object_no_sync == &export_array, "it can export");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::vector<std::byte> arena(kArena);
  Input in({data, size});
  for (std::size_t i = 0; i < arena.size(); ++i) arena[i] = static_cast<std::byte>(i * 31 >> 3);
  try {
    const std::uint8_t what = in.byte() % 8;
    if (what < 3)
      elements(in, arena);
    else if (what < 6)
      native(in, arena);
    else
      tables(in);
  } catch (const dlbench::exchange::ViewError& error) {
    require_text(error.what());
  }
  return 0;
}
