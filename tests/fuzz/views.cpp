// Descriptions of memory, as a library might hand them over by mistake or malice. Whatever is read
// is a ViewError of one line, or a View whose elements lie where the description says.

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "exchange/dtype.hpp"
#include "exchange/layout.hpp"
#include "exchange/read.hpp"
#include "exchange/verdict.hpp"
#include "input.hpp"

namespace {

using namespace dlbench::exchange;
using dlbench::fuzz::Input;
using dlbench::fuzz::require;
using dlbench::fuzz::require_text;
__extension__ typedef __int128 Wide;

/// The memory that honest descriptions are about. The sanitizer watches both ends.
constexpr std::size_t kArena = 4096;

/// What was described, in numbers that do not overflow.
struct Described {
  Wide address = 0;
  std::vector<std::int64_t> shape, strides;
  Wide stride_unit = 1;  ///< bytes
  bool has_strides = false;
};

std::uintptr_t address(Input& in, std::vector<unsigned char>& arena) {
  constexpr auto kLast = ~std::uintptr_t{0};
  constexpr std::array<std::uintptr_t, 6> kEdges{0, 1, 8, kLast, kLast - 7, kLast / 2 + 1};
  if (!in.usual()) return kEdges.at(in.below(kEdges.size()));
  return reinterpret_cast<std::uintptr_t>(arena.data()) + in.below(kArena);
}

std::vector<std::int64_t> numbers(Input& in, std::size_t count) {
  std::vector<std::int64_t> values(count);
  std::generate(values.begin(), values.end(), [&] { return in.number(); });
  return values;
}

std::int32_t dimensions(Input& in) {
  constexpr std::array<std::int32_t, 6> kEdges{-1,
                                               63,
                                               64,
                                               65,
                                               std::numeric_limits<std::int32_t>::max(),
                                               std::numeric_limits<std::int32_t>::min()};
  if (in.usual()) return static_cast<std::int32_t>(in.below(5));
  return in.usual() ? kEdges.at(in.below(kEdges.size())) : static_cast<std::int32_t>(in.word());
}

/// Exactly as long as a reader may look: a read past it is the sanitizer's.
std::vector<std::int64_t> extents(Input& in, std::int32_t ndim) {
  return numbers(in, static_cast<std::size_t>(std::clamp(ndim, 0, 64)));
}

View read_tensor(Input& in, std::vector<unsigned char>& arena, Described& reported) {
  DLManagedTensorVersioned managed{};
  managed.version = {in.usual() ? 1U : static_cast<std::uint32_t>(in.word()),
                     static_cast<std::uint32_t>(in.byte())};
  managed.flags = in.usual() ? in.below(8) : in.word();
  DLTensor& tensor = managed.dl_tensor;
  tensor.ndim = dimensions(in);
  reported.shape = extents(in, tensor.ndim);
  reported.strides = extents(in, tensor.ndim);
  reported.has_strides = in.usual() && !reported.strides.empty();
  tensor.data = memory_at(address(in, arena));
  tensor.device = {static_cast<DLDeviceType>(in.usual() ? 1 : in.word() % 4096), in.byte()};
  constexpr std::array<std::uint8_t, 8> kBits{8, 16, 32, 64, 128, 4, 6, 0};
  tensor.dtype = {static_cast<std::uint8_t>(in.usual() ? in.below(18) : in.byte()),
                  in.usual() ? kBits.at(in.below(kBits.size())) : in.byte(),
                  static_cast<std::uint16_t>(in.usual() ? 1 : in.word())};
  tensor.shape = in.usual() && !reported.shape.empty() ? reported.shape.data() : nullptr;
  tensor.strides = reported.has_strides ? reported.strides.data() : nullptr;
  tensor.byte_offset = in.usual() ? in.below(64) : in.word();
  reported.address = Wide{reinterpret_cast<std::uintptr_t>(tensor.data)} + Wide{tensor.byte_offset};
  reported.stride_unit = (Wide{tensor.dtype.bits} * tensor.dtype.lanes + 7) / 8;
  if (tensor.shape == nullptr) reported.shape.clear();
  switch (in.byte() % 3) {
    case 0:
      return read(tensor);
    case 1:
      return read(DLManagedTensor{tensor, nullptr, nullptr});
    default:
      return read(managed);
  }
}

View read_buffer(Input& in, std::vector<unsigned char>& arena, Described& reported) {
  static constexpr std::array<std::string_view, 14> kFormats{
      "f", "<f", "@i", "=I", ">f", "d", "?", "Zf", "g", "T{f:a:}", "(2,2)f", "n", "=n", ""};
  reported.shape = extents(in, std::clamp(dimensions(in), 0, 70));
  reported.strides = numbers(in, in.usual() ? reported.shape.size() : in.below(70));
  reported.has_strides = !reported.strides.empty();
  const std::string format = in.text(kFormats);
  const std::int64_t itemsize = in.usual() ? std::array{1, 4, 8}.at(in.below(3)) : in.number();
  std::int64_t length = itemsize;
  for (const std::int64_t extent : reported.shape) {
    if (__builtin_mul_overflow(length, extent, &length)) length = in.number();
  }
  BufferFacts facts{address(in, arena), in.usual() ? length : in.number(),
                    itemsize,           format,
                    reported.shape,     reported.strides,
                    in.usual()};
  reported.address = facts.address;
  return read(facts);
}

View read_interface(Input& in, std::vector<unsigned char>& arena, Described& reported) {
  static constexpr std::array<std::string_view, 12> kTypes{
      "<f4", "|b1", "<c16", ">i8", "<V2", "<f99", "|u1", "<i", "", "<f4444444444444444444444",
      "=u8", "<f-4"};
  reported.shape = extents(in, std::clamp(dimensions(in), 0, 70));
  reported.strides = numbers(in, in.usual() ? reported.shape.size() : in.below(70));
  reported.has_strides = in.usual();
  const std::string typestr = in.text(kTypes);
  InterfaceFacts facts{.address = address(in, arena),
                       .typestr = typestr,
                       .shape = reported.shape,
                       .strides = std::nullopt};
  if (reported.has_strides) facts.strides = reported.strides;
  facts.device_type = static_cast<std::int32_t>(in.usual() ? 1 : in.word());
  reported.address = facts.address;
  return read(facts);
}

View read_struct(Input& in, std::vector<unsigned char>& arena, Described& reported) {
  constexpr std::array<char, 8> kKinds{'f', 'i', 'u', 'c', 'b', 'V', 'O', '\0'};
  ArrayStruct array{};
  array.two = in.usual() ? 2 : static_cast<int>(in.word());
  array.nd = dimensions(in);
  array.typekind = kKinds.at(in.below(kKinds.size()));
  array.itemsize = in.usual() ? std::array{1, 4, 8}.at(in.below(3)) : static_cast<int>(in.word());
  array.flags = in.usual() ? 0x600 : static_cast<int>(in.word());
  reported.shape = extents(in, array.nd);
  reported.strides = extents(in, array.nd);
  reported.has_strides = in.usual() && !reported.strides.empty();
  std::vector<std::intptr_t> shape(reported.shape.begin(), reported.shape.end());
  std::vector<std::intptr_t> strides(reported.strides.begin(), reported.strides.end());
  array.shape = in.usual() && !shape.empty() ? shape.data() : nullptr;
  array.strides = reported.has_strides ? strides.data() : nullptr;
  array.data = memory_at(address(in, arena));
  reported.address = Wide{reinterpret_cast<std::uintptr_t>(array.data)};
  if (array.shape == nullptr) reported.shape.clear();
  return read(array);
}

Wide at(const View& view, const std::vector<std::int64_t>& index) {
  Wide place = Wide{view.address};
  for (std::size_t d = 0; d < index.size(); ++d) place += Wide{view.strides[d]} * index[d];
  return place;
}

Wide described_at(const Described& reported, Wide element, const std::vector<std::int64_t>& index) {
  Wide place = reported.address;
  Wide compact = element;
  for (std::size_t d = index.size(); d-- > 0;) {
    place += index[d] *
             (reported.has_strides ? Wide{reported.strides[d]} * reported.stride_unit : compact);
    compact *= reported.shape[d];
  }
  return place;
}

/// All corners' extremes and some elements in between lie where the description says, and inside
/// the address space.
void check_elements(const View& view, const Described& reported, Input& in) {
  require(view.shape == reported.shape && view.strides.size() == view.shape.size(),
          "the shape is reported");
  require(view.element_bytes() > 0, "an element has bytes");
  if (view.elements() == 0) return;
  const Wide element = view.element_bytes();
  for (int probe = 0; probe < 8; ++probe) {
    std::vector<std::int64_t> index(view.shape.size());
    for (std::size_t d = 0; d < index.size(); ++d) {
      const std::int64_t last = view.shape[d] - 1;
      const int how = probe == 0 ? 0 : in.byte() % 3;
      index[d] = how == 0   ? last
                 : how == 1 ? 0
                            : static_cast<std::int64_t>(in.word() >> 1) % (last + 1);
    }
    const Wide place = at(view, index);
    require(place == described_at(reported, element, index),
            "an element lies where it was described");
    require(place > 0 && place + element <= Wide{~std::uintptr_t{0}} + 1, "it has an address");
  }
}

bool lies_in(const View& view, const std::vector<unsigned char>& arena) {
  if (view.elements() == 0) return true;
  Wide low = Wide{view.address};
  Wide high = low + view.element_bytes();
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    const Wide span = Wide{view.strides[d]} * (view.shape[d] - 1);
    (span < 0 ? low : high) += span;
  }
  const Wide begin = Wide{reinterpret_cast<std::uintptr_t>(arena.data())};
  return low >= begin && high <= begin + Wide{arena.size()};
}

/// What judges do with a view whose memory is there.
void use(const View& view, const std::vector<unsigned char>& arena, Input& in) {
  constexpr std::int64_t kMost = 4096;
  const std::array<float, 6> known{0, 1, -0.0F, 3, 1e30F, std::numeric_limits<float>::quiet_NaN()};
  View expected;
  expected.address = reinterpret_cast<std::uintptr_t>(known.data());
  expected.shape = {2, 3};
  expected.strides = {12, 4};
  changed(expected, view);
  changed(view, expected);
  same_address(view, expected);
  if (!lies_in(view, arena) || view.elements() > kMost || !on_host(view.device)) return;
  require(difference(view, view).empty(), "an array is equal to itself");
  View other = expected;
  if (in.usual() && view.shape.size() == 2 && view.elements() <= 6) other.shape = view.shape;
  const std::string text = difference(other, view);
  if (!text.empty()) require_text(text);
  const std::vector<unsigned char> before = arena;
  View from = view;
  from.readonly = false;
  const bool overlaps_itself = std::count(view.strides.begin(), view.strides.end(), 0) > 0;
  const dlbench::Proof proof = write_through(from, from);
  require(view.elements() == 0 || proof == dlbench::Proof::yes || overlaps_itself,
          "a write shows in itself");
  require(before == arena, "the bytes are put back");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static std::vector<unsigned char> arena(kArena);
  Input in({data, size});
  for (std::size_t i = 0; i < arena.size(); i += 64) arena[i] = static_cast<unsigned char>(i >> 6);
  Described reported;
  try {
    const std::uint8_t protocol = in.byte() % 4;
    const View view = protocol == 0   ? read_tensor(in, arena, reported)
                      : protocol == 1 ? read_buffer(in, arena, reported)
                      : protocol == 2 ? read_interface(in, arena, reported)
                                      : read_struct(in, arena, reported);
    require(!to_string(view.dtype).empty(), "a dtype has a name");
    check_elements(view, reported, in);
    use(view, arena, in);
  } catch (const ViewError& error) {
    require_text(error.what());
  }
  return 0;
}
