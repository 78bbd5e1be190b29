#pragma once

#include <sys/types.h>

#include <map>
#include <string>

namespace dlbench::supervisor {

/// The files of each environment from which its workers map code: shared objects and interpreter.
///
/// The pages of a file keep their place in memory as long as they are in the page cache. The place
/// decides which cache sets they use, and so changes times by up to a quarter: for all workers of
/// an environment alike, and differently for another copy of the same file. After an eviction the
/// next worker gets other pages.
class MappedCode {
 public:
  /// Adds the files from which this process maps code.
  void add(const std::string& environment, pid_t process);

  /// Evicts all files from the page cache; no worker may be alive. Returns, by environment, a file
  /// that stayed, because another process uses it. Files that all environments map are left out:
  /// their place is the same on all sides.
  std::map<std::string, std::string> evict() const;

 private:
  using Identity = std::string;  ///< device and inode: hard links of a file share its pages

  bool is_common(const Identity& file) const;

  std::map<std::string, std::map<Identity, std::string>> paths_;  ///< by environment
};

}  // namespace dlbench::supervisor
