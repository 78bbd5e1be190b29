#include "model/cell.hpp"

#include <algorithm>
#include <charconv>

#include "model/error.hpp"

namespace dlbench {
namespace {

[[noreturn]] void misfit(std::string_view text, std::string_view part) {
  throw UsageError("'" + std::string(text) + "' is not the name of a cell: '" + std::string(part) +
                   "' does not fit PHASE/producer:P/consumer:C/protocol:X/device:D/case:N/bytes:B");
}

void read(std::string_view, std::string_view value, std::string& axis) {
  axis = value;
}

void read(std::string_view text, std::string_view value, std::uint64_t& bytes) {
  const char* const last = value.data() + value.size();
  const auto [end, error] = std::from_chars(value.data(), last, bytes);
  if (error != std::errc{} || end != last) misfit(text, value);
}

}  // namespace

std::string name(const Cell& cell) {
  const Exchange& x = cell.exchange;
  std::string text = cell.phase + "/producer:" + x.producer + "/consumer:" + x.consumer +
                     "/protocol:" + x.protocol + "/device:" + x.device + "/case:" + x.case_name +
                     "/bytes:" + std::to_string(x.bytes);
  if (x.arrays != 1) text += "/arrays:" + std::to_string(x.arrays);
  if (cell.clock != Clock::call) text += "/clock:" + cell.clock;
  if (x.environment != "default") text += "/environment:" + x.environment;
  if (!cell.machine.empty()) text += "/machine:" + cell.machine;
  return text;
}

Cell cell_from_name(std::string_view text) {
  Cell cell;
  Exchange& x = cell.exchange;
  std::size_t begin = 0;
  for (std::size_t index = 0; begin <= text.size(); ++index) {
    const std::size_t end = std::min(text.find('/', begin), text.size());
    const std::string_view part = text.substr(begin, end - begin);
    begin = end + 1;
    if (index == 0) {
      if (part.empty()) misfit(text, part);
      cell.phase = part;
      continue;
    }
    const std::size_t colon = part.find(':');
    if (colon == std::string_view::npos) misfit(text, part);
    const std::string_view key = part.substr(0, colon);
    const std::string_view value = part.substr(colon + 1);
    if (value.empty()) misfit(text, part);
    bool known = false;
    each_axis(cell, [&](std::string_view axis, auto& own) {
      if (axis != key || axis == "phase") return;
      known = true;
      read(text, value, own);
    });
    if (!known) misfit(text, part);
  }
  if (x.producer.empty() || x.consumer.empty() || x.protocol.empty()) misfit(text, text);
  return cell;
}

}  // namespace dlbench
