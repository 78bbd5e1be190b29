#include <dlpack/dlpack.h>

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

/// One element in memory of any device.
class Element {
 public:
  Element(const View& view, std::uintptr_t address, const Access& memory)
      : memory_(memory),
        device_(view.device),
        address_(address),
        bytes_(static_cast<std::size_t>(view.element_bytes())) {}

  std::vector<unsigned char> load() const {
    std::vector<unsigned char> copy(bytes_);
    memory_.load(device_, address_, copy.data(), bytes_);
    return copy;
  }
  void store(const std::vector<unsigned char>& bytes) {
    memory_.store(device_, address_, bytes.data(), bytes_);
  }

 private:
  const Access& memory_;
  Device device_;
  std::uintptr_t address_;
  std::size_t bytes_;
};

/// Is a change of `source` visible in `found`? Restores the bytes of `source`.
bool shows(Element source, const Element& found) {
  const std::vector<unsigned char> old_source = source.load();
  const std::vector<unsigned char> old_found = found.load();
  std::vector<unsigned char> other = old_source;
  // Change only the lowest bit, so that a bool stays a bool.
  for (unsigned char& byte : other) byte ^= 1;
  source.store(other);
  const std::vector<unsigned char> observed = found.load();
  source.store(old_source);
  return observed != old_found;
}

/// Kinds of memory that a GPU reaches at the host's address: one address is one place.
bool is_on_cuda(const Device& device) {
  return device.type == kDLCUDA || device.type == kDLCUDAHost || device.type == kDLCUDAManaged;
}

bool is_on_rocm(const Device& device) {
  return device.type == kDLROCM || device.type == kDLROCMHost;
}

bool is_one_place(const Device& a, const Device& b) {
  if (a.type == b.type) return a == b || on_host(a);
  return (on_host(a) && on_host(b)) || (is_on_cuda(a) && is_on_cuda(b)) ||
         (is_on_rocm(a) && is_on_rocm(b));
}

}  // namespace

Proof same_address(const View& source, const View& found) {
  const bool same = source.address == found.address && is_one_place(source.device, found.device);
  if (source.elements() == 0 || found.elements() == 0) {
    return same && source.address != 0 ? Proof::yes : Proof::skipped;
  }
  return same ? Proof::yes : Proof::no;
}

bool Access::reaches(const Device& where) const {
  return on_host(where);
}

// Volatile, because source and result may be the same byte: no access may be removed or reordered.
void Access::load(const Device&, std::uintptr_t from, void* to, std::size_t bytes) const {
  const auto* source = static_cast<const volatile unsigned char*>(memory_at(from));
  auto* copy = static_cast<unsigned char*>(to);
  for (std::size_t i = 0; i < bytes; ++i) copy[i] = source[i];
}

void Access::store(const Device&, std::uintptr_t to, const void* from, std::size_t bytes) const {
  auto* found = static_cast<volatile unsigned char*>(memory_at(to));
  const auto* copy = static_cast<const unsigned char*>(from);
  for (std::size_t i = 0; i < bytes; ++i) found[i] = copy[i];
}

Proof write_through(const View& source, const View& found, const Access& memory) {
  const bool possible =
      !source.readonly && source.elements() > 0 &&
      (source.elements() == found.elements() || source.bytes() == found.bytes()) &&
      memory.reaches(source.device) && memory.reaches(found.device);
  if (!possible) return Proof::skipped;
  // One after the other, because with a stride of 0 both are the same element.
  const bool first = shows({source, source.address, memory}, {found, found.address, memory});
  const bool last =
      shows({source, last_element(source), memory}, {found, last_element(found), memory});
  return first && last ? Proof::yes : Proof::no;
}

Changed::Changed(const View& view)
    : address_(view.address), bytes_(static_cast<std::size_t>(view.element_bytes())) {
  flip();
}

Changed::~Changed() {
  flip();
}

// Volatile, as in Access.
void Changed::flip() const {
  auto* at = static_cast<volatile unsigned char*>(memory_at(address_));
  for (std::size_t i = 0; i < bytes_; ++i) at[i] = static_cast<unsigned char>(at[i] ^ 1U);
}

Proof write_back(const View& source, const View& found) {
  if (source.readonly || found.readonly) return Proof::skipped;
  return write_through(found, source);
}

}  // namespace dlbench::exchange
