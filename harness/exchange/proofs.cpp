#include <cstddef>

#include "exchange/layout.hpp"
#include "exchange/verdict.hpp"

namespace dlbench::exchange {
namespace {

std::uintptr_t last_element(const View& view) {
  std::uintptr_t address = view.address;
  for (std::size_t d = 0; d < view.shape.size(); ++d) {
    address += static_cast<std::uintptr_t>(view.strides[d] * (view.shape[d] - 1));
  }
  return address;
}

/// Volatile: each access happens, and in this order; the two may be the same byte.
class Element {
 public:
  Element(std::uintptr_t address, std::int64_t bytes)
      : bytes_(static_cast<volatile unsigned char*>(memory_at(address))),
        count_(static_cast<std::size_t>(bytes)) {}

  std::vector<unsigned char> load() const {
    std::vector<unsigned char> copy(count_);
    for (std::size_t i = 0; i < count_; ++i) copy[i] = bytes_[i];
    return copy;
  }
  void store(const std::vector<unsigned char>& bytes) {
    for (std::size_t i = 0; i < count_; ++i) bytes_[i] = bytes[i];
  }

 private:
  volatile unsigned char* bytes_;
  std::size_t count_;
};

/// Does a change at `source` show at `found`? The source's bytes are as before afterwards.
bool shows(Element source, Element found) {
  const std::vector<unsigned char> old_source = source.load();
  const std::vector<unsigned char> old_found = found.load();
  std::vector<unsigned char> other = old_source;
  // The lowest bit alone: a bool stays a bool, and every other value still changes.
  for (unsigned char& byte : other) byte ^= 1;
  source.store(other);
  const std::vector<unsigned char> seen = found.load();
  source.store(old_source);
  return seen != old_found;
}

bool is_one_place(const Device& a, const Device& b) {
  return a == b || (on_host(a) && on_host(b));
}

}  // namespace

Proof same_address(const View& source, const View& found) {
  if (source.elements() == 0 || found.elements() == 0) return Proof::skipped;
  const bool same = source.address == found.address && is_one_place(source.device, found.device);
  return same ? Proof::yes : Proof::no;
}

Proof write_through(const View& source, const View& found) {
  const bool possible =
      !source.readonly && source.elements() > 0 &&
      (source.elements() == found.elements() || source.bytes() == found.bytes()) &&
      on_host(source.device) && on_host(found.device);
  if (!possible) return Proof::skipped;
  const std::int64_t source_bytes = source.element_bytes();
  const std::int64_t found_bytes = found.element_bytes();
  // One after the other, each put back at once: with a stride of 0 they are one element.
  const bool first = shows({source.address, source_bytes}, {found.address, found_bytes});
  const bool last = shows({last_element(source), source_bytes}, {last_element(found), found_bytes});
  return first && last ? Proof::yes : Proof::no;
}

Proof write_back(const View& source, const View& found) {
  if (source.readonly || found.readonly) return Proof::skipped;
  return write_through(found, source);
}

}  // namespace dlbench::exchange
