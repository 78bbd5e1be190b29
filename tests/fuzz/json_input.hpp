#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

#include "input.hpp"

namespace dlbench::fuzz {

/// A folder in memory, gone with the process.
struct Folder {
  Folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "dlbench-fuzz-XXXXXX").string();
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

inline void write(const std::filesystem::path& path, const std::string& text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (::write(file, text.data(), text.size()) < 0) std::abort();
  ::close(file);
}

inline nlohmann::json strange(Input& in) {
  switch (in.byte() % 14) {
    case 0:
      return nullptr;
    case 1:
      return in.byte() % 2 == 0;
    case 2:
      return in.number();
    case 3:
      return in.word();
    case 4:
      return -1;
    case 5:
      return 1e300;
    case 6:
      return -0.0;
    case 7:
      return 5e-324;
    case 8:
      return "";
    case 9:
      return std::string(1, static_cast<char>(in.byte()));
    case 10:
      return "yes\n/no";
    case 11:
      return nlohmann::json::array({1, "a", nullptr});
    case 12:
      return nlohmann::json::object({{"a", nlohmann::json::array()}});
    default:
      return nlohmann::json::array();
  }
}

/// Something anywhere in the tree is changed, dropped or added.
inline void mutate(nlohmann::json& value, Input& in) {
  if (value.is_structured() && !value.empty() && in.usual()) {
    auto child = value.begin();
    std::advance(child, static_cast<std::ptrdiff_t>(in.below(value.size())));
    if (!in.usual())
      value.erase(child);
    else
      mutate(*child, in);
  } else if (value.is_object() && !in.usual()) {
    value["more"] = strange(in);
  } else {
    value = strange(in);
  }
}

inline std::string text_of(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

inline std::string damaged(std::string text, Input& in) {
  for (std::uint64_t times = in.below(4); times > 0 && !text.empty(); --times) {
    const std::size_t place = in.below(text.size());
    const std::uint8_t how = in.byte() % 4;
    if (how == 0)
      text.resize(place);
    else if (how == 1)
      text[place] = static_cast<char>(in.byte());
    else if (how == 2)
      text.insert(place, in.below(80), "[{\"0,:\\"[in.byte() % 8]);
    else
      text.erase(place, in.below(20));
  }
  return text;
}

}  // namespace dlbench::fuzz
