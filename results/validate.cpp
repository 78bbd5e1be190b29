#include "results/document.hpp"
#include "results/read.hpp"

namespace dlbench::results {

void validate_document(const std::filesystem::path& path) {
  read_document(path, [](const ReadEntry&) {});
}

}  // namespace dlbench::results
