#include "gpu/program.hpp"

#include <cstring>
#include <regex>

#include "gpu/blocks.hpp"

namespace dlbench::fake {

namespace {

/// The instructions, each with a type behind it, and how many operands each has.
const std::map<std::string, std::size_t> operands{
    {"mov", 2}, {"ld.param", 2}, {"ld", 2},     {"st", 2},
    {"add", 3}, {"mul.lo", 3},   {"mad.lo", 4}, {"ret", 0},
};

std::vector<std::string> words_of(const std::string& text) {
  static const std::regex word(R"([^\s,;]+)");
  return {std::sregex_token_iterator(text.begin(), text.end(), word), {}};
}

}  // namespace

std::optional<Program> Program::of(const std::string& text, const std::string& kernel,
                                   void** parameters) {
  const std::size_t begin = text.find(".entry " + kernel + "(");
  const std::size_t body = text.find('{', begin), end = text.find('}', begin);
  if (begin == std::string::npos || body == std::string::npos || end == std::string::npos) {
    return {};
  }
  Program program;
  static const std::regex parameter(R"(\.param\s+\.(\w+)\s+(\w+))"), line(R"([^;]+;)"),
      typed(R"((.*)\.[subi]64)");
  const std::string head = text.substr(begin, body - begin),
                    code = text.substr(body + 1, end - body);
  for (std::sregex_iterator each(head.begin(), head.end(), parameter), none; each != none; ++each) {
    if ((*each)[1] != "u64") return {};
    std::memcpy(&program.parameters_[(*each)[2]], *parameters++, sizeof(std::uint64_t));
  }
  for (std::sregex_iterator each(code.begin(), code.end(), line), none; each != none; ++each) {
    std::vector<std::string> words = words_of(each->str());
    if (words.front() == ".reg") continue;
    words.front() = std::regex_replace(words.front(), typed, "$1");
    const auto known = operands.find(words.front());
    if (known == operands.end() || words.size() != known->second + 1) return {};
    program.steps_.push_back(std::move(words));
  }
  return program;
}

bool Program::run() const {
  Blocks& blocks = Blocks::instance();
  std::map<std::string, std::uint64_t> registers;
  const auto value = [&](const std::string& word) {
    return word.front() == '%' ? registers[word] : std::stoull(word);
  };
  // [%r+8]
  const auto address = [&](const std::string& word) {
    const std::size_t plus = word.find('+');
    const std::uint64_t more = plus == std::string::npos ? 0 : std::stoull(word.substr(plus + 1));
    return value(word.substr(1, word.find_first_of("+]") - 1)) + more;
  };
  for (const std::vector<std::string>& step : steps_) {
    const std::string& name = step[0];
    if (name == "ret") return true;
    if (name == "ld.param") {
      registers[step[1]] = parameters_.at(step[2].substr(1, step[2].size() - 2));
    } else if (name == "ld") {
      const std::uint64_t from = address(step[2]);
      if (!blocks.is_mapped(from, sizeof from)) return false;
      std::memcpy(&registers[step[1]], reinterpret_cast<const void*>(from), sizeof from);
    } else if (name == "st") {
      const std::uint64_t to = address(step[1]), stored = value(step[2]);
      if (!blocks.is_mapped(to, sizeof stored)) return false;
      blocks.store(to, &stored, sizeof stored);
    } else if (name == "mov") {
      registers[step[1]] = value(step[2]);
    } else {
      const std::uint64_t first = value(step[2]), second = value(step[3]);
      registers[step[1]] = name == "add"      ? first + second
                           : name == "mul.lo" ? first * second
                                              : first * second + value(step[4]);
    }
  }
  return true;
}

}  // namespace dlbench::fake
