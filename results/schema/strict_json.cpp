#include "results/schema/strict_json.hpp"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/contains.hpp"
#include "model/error.hpp"
#include "results/fields.hpp"
#include "results/file.hpp"
#include "results/texts.hpp"

namespace dlbench::results {
namespace {

using nlohmann::json;

/// The initial memory for the items of a list; larger items allocate more.
constexpr std::size_t kItemBytes = std::size_t{1} << 16;
/// A file is read in blocks of this size.
constexpr std::size_t kBlockBytes = std::size_t{1} << 16;
/// With at least this number of keys, an object's keys are looked up in a set.
constexpr std::size_t kManyKeys = 64;

/// The bytes of a text or, block by block, of a file.
class Source {
 public:
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;
  explicit Source(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  Source(const std::filesystem::path& path, std::uintmax_t most) : path_(path) {
    left_ = open_file(path, most, file_);
    block_.resize(std::min<std::uintmax_t>(left_, kBlockBytes));
  }

  bool is_at_end() { return at_ == end_ && !read_block(); }
  /// Replaces a zero byte with another invalid control character, because the parser treats zero as
  /// the end of the input.
  char byte() const { return *at_ == '\0' ? '\x1' : *at_; }
  void advance() { ++at_; }

 private:
  bool read_block() {
    const std::size_t most = std::min<std::uintmax_t>(left_, block_.size());
    const std::size_t got = most == 0 ? 0 : read_some(file_, block_.data(), most, path_);
    left_ -= got;
    at_ = block_.data();
    end_ = at_ + got;
    return got > 0;
  }

  std::filesystem::path path_;
  File file_;
  std::uintmax_t left_ = 0;  ///< bytes of the file that are not read yet
  std::string block_;
  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

/// A source in the parser's form; all copies read the same source.
struct Bytes {
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = char;

  Source* source = nullptr;  ///< null: the end

  reference operator*() const { return source->byte(); }
  Bytes& operator++() {
    source->advance();
    return *this;
  }
  bool operator==(const Bytes&) const { return source->is_at_end(); }
};

/// A container that is not closed yet.
struct Open {
  bool is_list = false;
  std::size_t begin = 0;      ///< index of its first item in `pending_`
  std::size_t passed_on = 0;  ///< items that were passed to `on_item`
  std::string_view key;       ///< the last key of an object
  std::unique_ptr<std::unordered_set<std::string_view>> keys;
};

template <typename Item>
std::span<const Item> allocate(std::pmr::memory_resource& memory, std::size_t count) {
  return {static_cast<Item*>(memory.allocate(count * sizeof(Item), alignof(Item))), count};
}

/// The parser's message without the text around the fault, which may be long or binary.
std::string text_of(const json::exception& error) {
  constexpr int kNumberOverflow = 406;
  if (error.id == kNumberOverflow) return "a number beyond the range of a double";
  std::string_view text = error.what();
  text = text.substr(0, text.find("; last read:"));
  for (const std::string_view prefix : {"] ", "parse error at "}) {
    const std::size_t at = text.find(prefix);
    if (at != std::string_view::npos) text.remove_prefix(at + prefix.size());
  }
  return std::string(text);
}

}  // namespace

/// Builds the value from the parser's events, and tracks their places for messages.
class Parsing {
 public:
  Parsing(std::string file, std::size_t most_depth, std::span<const std::string_view> lists,
          const OnItem* on_item)
      : file_(std::move(file)), most_depth_(most_depth), lists_(lists), on_item_(on_item) {
    parsed_.memory_ = std::make_unique<std::pmr::monotonic_buffer_resource>();
  }

  Parsed read(Source& source) {
    // The parser skips a byte order mark, but other JSON readers do not.
    if (!source.is_at_end() && source.byte() == '\xef') fail_at(0, "a byte order mark");
    json::sax_parse(Bytes{&source}, Bytes{}, this);
    return std::move(parsed_);
  }

  // Callbacks of the parser.
  bool null() { return add(Value()); }
  bool boolean(bool value) { return add(Value(value)); }
  bool number_integer(std::int64_t value) { return add(Value(value)); }
  bool number_unsigned(std::uint64_t value) { return add(Value(value)); }
  bool number_float(double value, const std::string&) { return add(Value(value)); }
  bool string(const std::string& text) { return add(Value(copied(memory(), text))); }
  bool binary(const json::binary_t&) { return false; }
  bool start_object(std::size_t) { return open(false); }
  bool start_array(std::size_t) { return open(true); }
  bool end_object() {
    const auto members = allocate<Member>(memory(), pending_.size() - open_.back().begin);
    std::uninitialized_copy(first_pending(), pending_.cend(), const_cast<Member*>(members.data()));
    return close(Value(members));
  }
  bool end_array() {
    const auto items = allocate<Value>(memory(), pending_.size() - open_.back().begin);
    std::transform(first_pending(), pending_.cend(), const_cast<Value*>(items.data()),
                   [](const Member& each) { return each.value; });
    return close(Value(items));
  }
  bool key(const std::string& text) {
    Open& object = open_.back();
    object.key = copied(memory(), text);
    if (has_key(object)) fail("duplicate key");
    return true;
  }
  [[noreturn]] bool parse_error(std::size_t bytes, const std::string&,
                                const json::exception& error) {
    fail_at(bytes - 1, text_of(error));
  }

 private:
  std::vector<Member>::const_iterator first_pending() const {
    return pending_.begin() + static_cast<std::ptrdiff_t>(open_.back().begin);
  }

  bool has_key(Open& object) {
    if (pending_.size() - object.begin < kManyKeys) {
      return std::any_of(first_pending(), pending_.cend(),
                         [&](const Member& member) { return member.key == object.key; });
    }
    if (!object.keys) {
      object.keys = std::make_unique<std::unordered_set<std::string_view>>();
      std::for_each(first_pending(), pending_.cend(),
                    [&](const Member& member) { object.keys->insert(member.key); });
    }
    return !object.keys->insert(object.key).second;
  }

  [[noreturn]] void fail(const std::string& why) const {
    throw UsageError(file_ + ": " + pointer() + ": " + why);
  }

  [[noreturn]] void fail_at(std::size_t byte, const std::string& why) const {
    fail("invalid JSON at byte " + std::to_string(byte) + ": " + why);
  }

  std::string pointer() const {
    if (open_.empty()) return "/";
    std::string text;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const std::size_t end = i + 1 < open_.size() ? open_[i + 1].begin : pending_.size();
      const std::size_t next = open_[i].passed_on + end - open_[i].begin;
      text += "/" + (open_[i].is_list ? std::to_string(next) : pointer_part(open_[i].key));
    }
    return text;
  }

  /// Is the innermost open container one of the lists whose items are passed on?
  bool is_in_list() const {
    return on_item_ != nullptr && open_.size() == 2 && open_[1].is_list && !open_[0].is_list &&
           contains(lists_, open_[0].key);
  }

  std::pmr::memory_resource& memory() {
    if (is_in_item_) return items_;
    return *parsed_.memory_;
  }

  bool add(Value value) {
    if (open_.empty())
      parsed_.value_ = value;
    else if (is_in_list())
      pass_on(value);
    else
      pending_.push_back({open_.back().key, value});
    return true;
  }

  void pass_on(const Value& item) {
    (*on_item_)(open_[0].key, open_[1].passed_on++, item);
    items_.release();
  }

  bool open(bool is_list) {
    if (open_.size() >= most_depth_) fail("nested deeper than " + std::to_string(most_depth_));
    is_in_item_ = is_in_item_ || is_in_list();
    open_.push_back({is_list, pending_.size(), 0, {}, nullptr});
    return true;
  }

  bool close(Value value) {
    pending_.resize(open_.back().begin);
    open_.pop_back();
    is_in_item_ = is_in_item_ && open_.size() > 2;
    return add(value);
  }

  std::string file_;
  std::size_t most_depth_;
  std::span<const std::string_view> lists_;
  const OnItem* on_item_;
  Parsed parsed_;
  std::vector<std::byte> first_{on_item_ != nullptr ? kItemBytes : 0};
  std::pmr::monotonic_buffer_resource items_{first_.data(), first_.size()};
  bool is_in_item_ = false;
  std::vector<Open> open_;
  std::vector<Member> pending_;  ///< the items of all open containers
};

Parsed parse_strict(std::string_view text, const std::string& file, std::size_t most_depth) {
  Source source(text);
  return Parsing(file, most_depth, {}, nullptr).read(source);
}

Parsed read_strict(const std::filesystem::path& path, std::uintmax_t most_bytes,
                   std::span<const std::string_view> lists, const OnItem& on_item,
                   std::size_t most_depth) {
  Source source(path, most_bytes);
  if (source.is_at_end()) throw UsageError(path.string() + ": the file is empty");
  return Parsing(path.string(), most_depth, lists, &on_item).read(source);
}

}  // namespace dlbench::results
