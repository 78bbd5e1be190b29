#pragma once

#include <string>

#include "worker/arrays/arrays.hpp"

namespace dlbench::worker {

/// The two libraries of an exchange and the devices of their arrays, for tests of synchronization.
struct SyncLibraries {
  const Library& producer;
  const Library& consumer;
  Exchange exchange;
  Ref make_case;
  std::shared_ptr<const Held> expected;
  Ref exported;  ///< the object of EXPORTS that replaces an array; mostly empty
};

/// Does the consumer's adapter name a fixed stream?
bool has_own_stream(const Library& consumer);

/// Can the library's current stream be set with an `on_stream` of either file?
bool can_set_stream(const Library& library);

/// Does the library compute arrays from an imported one, on its own stream?
bool has_compute_from(const Library& producer);

/// Does the consumer's stream have no name? Its own `snapshot` then reads in its order.
bool reads_by_snapshot(const Library& consumer);

/// The adapter file of the library with the `on_stream` that counts; empty without one. `role`: the
/// file that is tried first, because each file may have its own current stream.
Ref file_with_on_stream(const Library& library, Ref Library::*role);

/// Makes a stream the library's current one until the end of its scope; does nothing for an empty
/// stream. Throws Failure.
class OnStream {
 public:
  /// `role`: as in `file_with_on_stream`.
  OnStream(const Library& library, Ref Library::*role, const std::string& device,
           const Ref& stream);
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;
  ~OnStream();

 private:
  Ref context_;
};

/// The last nonzero element of the complete content of an array. It shows whether the content is
/// complete.
struct LastNonzero {
  std::size_t offset = 0;  ///< in bytes from the first element
  std::vector<unsigned char> bytes;
};

/// Throws Failure `unsupported` if the content is not contiguous or is all zeros.
LastNonzero find_last_nonzero(const exchange::View& expected);

}  // namespace dlbench::worker
