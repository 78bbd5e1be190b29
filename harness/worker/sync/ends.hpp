#pragma once

#include <string>

#include "worker/library/arrays.hpp"

namespace dlbench::worker {

/// The two libraries of an exchange and where their arrays lie, for who looks at their queues.
struct Ends {
  const Library& producer;
  const Library& consumer;
  Exchange exchange;
  Ref make_case;
  std::shared_ptr<const Held> expected;
  Ref exported;  ///< what the consumer is shown in an array's place by EXPORTS; mostly empty
};

/// Does the consumer's file name a stream of its own, and no way to change it? What its producer's
/// file may say of streams is of arrays that are made.
bool has_own_stream(const Library& consumer);

/// Can the library's current stream be set, by an `on_stream` of either file?
bool can_set_stream(const Library& library);

/// Within its scope the library works on that stream; an empty one changes nothing. Throws Failure.
class OnStream {
 public:
  /// `role`: whose file is asked first, since two halves may keep a stream each.
  OnStream(const Library& library, Ref Library::*role, const std::string& device,
           const Ref& stream);
  OnStream(const OnStream&) = delete;
  OnStream& operator=(const OnStream&) = delete;
  ~OnStream();

 private:
  Ref context_;
};

/// What an array's last element that is not zero holds when its content is there.
struct Place {
  std::size_t offset = 0;  ///< in bytes from the first element
  std::vector<unsigned char> bytes;
};

/// Throws Failure `unsupported` where the content is no contiguous line.
Place telling_place(const exchange::View& expected);

}  // namespace dlbench::worker
