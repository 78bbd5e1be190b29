#include "results/strict_json.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/error.hpp"
#include "results/fields.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;

/// The library's text repeats what it read, which may be anything, and of any length.
std::string readable(std::string text) {
  constexpr std::size_t kMost = 200;
  if (text.size() > kMost) text = text.substr(0, kMost) + "...";
  for (char& letter : text) {
    if (letter < ' ' || letter > '~') letter = '?';
  }
  return text;
}

/// Builds the value while it knows where it is: that is what a person needs of a broken file.
class Builder : public nlohmann::json_sax<json> {
 public:
  Builder(std::size_t most_depth, std::span<const std::string_view> lists, const OnItem* on_item)
      : most_depth_(most_depth), lists_(lists), on_item_(on_item) {}

  json result;
  std::string failure;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    keys_.back() = name;
    const auto [slot, is_new] = open_.back()->emplace(name, nullptr);
    slot_ = &*slot;
    if (is_new) return true;
    failure = pointer() + ": the key is there twice";
    return false;
  }

  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    // The library's text repeats the place in its own words: what follows is the fault.
    const std::string text = error.what();
    const std::size_t fault = text.find(" - ");
    failure = (pointer().empty() ? "/" : pointer()) + ": broken at byte " +
              std::to_string(position) + ": " +
              readable(fault == std::string::npos ? text : text.substr(fault + 3));
    return false;
  }

 private:
  std::string pointer() const {
    std::string text;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      // An open container stands in its parent already; what the last one waits for does not.
      const std::size_t next = open_[i]->size() - (i + 1 < open_.size() ? 1 : 0);
      text += "/" + (open_[i]->is_array() ? std::to_string(next) : pointer_part(keys_[i]));
    }
    return text;
  }

  json* place(json value) {
    if (open_.empty()) return &(result = std::move(value));
    json& parent = *open_.back();
    if (parent.is_array()) return &parent.emplace_back(std::move(value));
    return &(*slot_ = std::move(value));
  }

  /// Is the innermost open container one of the lists whose items are handed on?
  bool is_in_list() const {
    return on_item_ != nullptr && open_.size() == 2 && open_[1]->is_array() &&
           std::find(lists_.begin(), lists_.end(), keys_[0]) != lists_.end();
  }

  void hand_on() {
    json& last = open_[1]->back();
    (*on_item_)(keys_[0], open_[1]->size() - 1, std::exchange(last, nullptr));
  }

  bool add(json value) {
    place(std::move(value));
    if (is_in_list()) hand_on();
    return true;
  }

  bool open(json value) {
    if (open_.size() >= most_depth_) {
      failure = pointer() + ": nested deeper than " + std::to_string(most_depth_);
      return false;
    }
    open_.push_back(place(std::move(value)));
    keys_.emplace_back();
    return true;
  }

  bool close() {
    open_.pop_back();
    keys_.pop_back();
    if (is_in_list()) hand_on();
    return true;
  }

  std::size_t most_depth_;
  std::span<const std::string_view> lists_;
  const OnItem* on_item_;
  std::vector<json*> open_;
  json* slot_ = nullptr;  ///< what the last key stands for
  std::vector<std::string> keys_;
};

}  // namespace

json parse_strict(std::string_view text, const std::string& file, std::size_t most_depth) {
  Builder builder(most_depth, {}, nullptr);
  if (!json::sax_parse(text, &builder)) throw UsageError(file + ": " + builder.failure);
  return std::move(builder.result);
}

json parse_strict(std::string_view text, const std::string& file,
                  std::span<const std::string_view> lists, const OnItem& on_item,
                  std::size_t most_depth) {
  Builder builder(most_depth, lists, &on_item);
  if (!json::sax_parse(text, &builder)) throw UsageError(file + ": " + builder.failure);
  return std::move(builder.result);
}

}  // namespace dlbench::results
