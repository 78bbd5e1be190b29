#pragma once

#include <string>

#include "worker/library/arrays.hpp"

namespace dlbench::worker {

/// The two libraries of an exchange and the devices of their arrays, for tests of synchronization.
struct Ends {
  const Library& producer;
  const Library& consumer;
  Exchange exchange;
  Ref make_case;
  std::shared_ptr<const Held> expected;
  Ref exported;  ///< the object of EXPORTS in an array's place; mostly empty
};

/// Does the consumer's adapter name a fixed stream? The streams of its producer's adapter are those
/// of arrays that it makes.
bool has_own_stream(const Library& consumer);

/// Can the library's current stream be set, by an `on_stream` of either file?
bool can_set_stream(const Library& library);

/// Makes the stream the library's current one to the end of its scope; does nothing for an empty
/// one. Throws Failure.
class OnStream {
 public:
  /// `role`: the adapter that is tried first, since the two files may keep a stream each.
  OnStream(const Library& library, Ref Library::*role, const std::string& device,
           const Ref& stream);
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;
  ~OnStream();

 private:
  Ref context_;
};

/// The last nonzero element of an array when its content is complete.
struct Place {
  std::size_t offset = 0;  ///< in bytes from the first element
  std::vector<unsigned char> bytes;
};

/// Throws Failure `unsupported` where the content is not contiguous.
Place telling_place(const exchange::View& expected);

}  // namespace dlbench::worker
