#include "results/strict_json.hpp"

// Of a text of more than 4 GiB the lengths must not wrap.
#define RAPIDJSON_NO_SIZETYPEDEFINE
namespace rapidjson {
using SizeType = std::size_t;
}
#include <rapidjson/error/en.h>
#include <rapidjson/reader.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <unordered_set>
#include <utility>
#include <vector>

#include "model/error.hpp"
#include "results/fields.hpp"
#include "results/texts.hpp"

namespace dlbench::results {
namespace {

/// Each item of a list needs about this much; what it needs more is asked of the system.
constexpr std::size_t kItemBytes = std::size_t{1} << 16;
/// From so many keys on an object's are looked up instead of walked through.
constexpr std::size_t kManyKeys = 64;

/// A container that is not closed yet.
struct Open {
  bool is_list = false;
  std::size_t begin = 0;   ///< of its items among those at hand
  std::size_t handed = 0;  ///< items that were handed on
  std::string_view key;    ///< the last one, in an object
  std::unique_ptr<std::unordered_set<std::string_view>> keys;
};

/// What the parser reads from, and writes unescaped texts into.
struct Stream {
  using Ch = char;

  Blocks* blocks;
  char *at, *end, *to = nullptr;

  char Peek() const { return *at; }
  char Take() {
    const char taken = *at++;
    if (at == end && blocks->next()) {
      at = blocks->begin();
      end = blocks->end();
    }
    return taken;
  }
  std::size_t Tell() const {
    return blocks->before() + static_cast<std::size_t>(at - blocks->begin());
  }
  char* PutBegin() { return to = at; }
  void Put(char letter) { *to++ = letter; }
  std::size_t PutEnd(const char* begin) const { return static_cast<std::size_t>(to - begin); }
};

}  // namespace
}  // namespace dlbench::results

// A number is handed over where a copy of the stream, with which it is read, began.
template <>
struct rapidjson::StreamTraits<dlbench::results::Stream> {
  enum { copyOptimization = 1 };
};

namespace dlbench::results {
namespace {

struct Nowhere {
  static void Put(char) {}
};

bool is_ascii(std::string_view text) {
  constexpr std::uint64_t kHigh = 0x8080808080808080U;
  std::uint64_t all = 0;
  for (; text.size() >= sizeof(all); text.remove_prefix(sizeof(all))) {
    std::uint64_t some = 0;
    std::memcpy(&some, text.data(), sizeof(some));
    all |= some;
  }
  return (all & kHigh) == 0 &&
         std::all_of(text.begin(), text.end(), [](unsigned char letter) { return letter < 0x80; });
}

bool is_utf8(std::string_view text) {
  rapidjson::MemoryStream letters(text.data(), text.size());
  Nowhere nowhere;
  while (letters.Tell() < text.size()) {
    if (!rapidjson::UTF8<>::Validate(letters, nowhere)) return false;
  }
  return letters.Tell() == text.size();
}

template <typename Item>
std::span<const Item> kept(std::pmr::memory_resource& memory, std::size_t count) {
  return {static_cast<Item*>(memory.allocate(count * sizeof(Item), alignof(Item))), count};
}

}  // namespace

/// Builds the value while it knows where it is: that is what a person needs of a broken file.
class Parsing {
 public:
  Parsing(std::size_t most_depth, std::span<const std::string_view> lists, const OnItem* on_item)
      : most_depth_(most_depth), lists_(lists), on_item_(on_item) {
    parsed_.memory_ = std::make_unique<std::pmr::monotonic_buffer_resource>();
    open_.reserve(most_depth);
  }

  Parsed read(std::string text, const std::string& file) {
    parsed_.text_ = std::make_unique<std::string>(std::move(text));
    Blocks blocks(*parsed_.text_);
    return read(blocks, file);
  }

  Parsed read(Blocks& blocks, const std::string& file) {
    using namespace rapidjson;
    blocks_ = &blocks;
    blocks.next();
    Stream stream{&blocks, blocks.begin(), blocks.end()};
    Reader reader;
    const ParseResult result =
        reader.Parse<kParseInsituFlag | kParseNumbersAsStringsFlag>(stream, *this);
    if (!failure_.empty()) throw UsageError(file + ": " + failure_);
    if (result.IsError()) {
      throw UsageError(file + ": " + broken(result.Offset(), GetParseError_En(result.Code())));
    }
    // The parser takes a zero byte for the end.
    if (stream.at != stream.end || !blocks.is_last()) {
      throw UsageError(file + ": " + broken(stream.Tell(), "there is more behind the end"));
    }
    return std::move(parsed_);
  }

  // What the parser calls.
  bool Null() { return add(Value()); }
  bool Bool(bool value) { return add(Value(value)); }
  bool Int(int value) { return add(Value(std::int64_t{value})); }
  bool Uint(unsigned value) { return add(Value(std::uint64_t{value})); }
  bool Int64(std::int64_t value) { return add(Value(value)); }
  bool Uint64(std::uint64_t value) { return add(Value(value)); }
  bool Double(double value) { return add(Value(value)); }
  /// The parser's own conversion shifts by what is undefined for a zero of many digits.
  bool RawNumber(const char* text, std::size_t size, bool) {
    const char* const end = text + size;
    const bool is_whole =
        std::none_of(text, end, [](char one) { return one == '.' || one == 'e' || one == 'E'; });
    std::int64_t negative = 0;
    std::uint64_t natural = 0;
    if (is_whole && *text == '-') {
      if (std::from_chars(text, end, negative).ec == std::errc()) return add(Value(negative));
    } else if (is_whole) {
      if (std::from_chars(text, end, natural).ec == std::errc()) return add(Value(natural));
    }
    double value = 0;
    if (std::from_chars(text, end, value).ec == std::errc::result_out_of_range) {
      value = std::strtod(std::string(text, size).c_str(), nullptr);
    }
    if (std::isfinite(value)) return add(Value(value));
    return break_off(text, rapidjson::kParseErrorNumberTooBig);
  }
  bool String(const char* text, std::size_t size, bool) {
    return is_fit({text, size}) && add(Value(kept_text({text, size})));
  }
  bool StartObject() { return open(false); }
  bool StartArray() { return open(true); }
  bool EndObject(std::size_t) {
    const std::size_t begin = open_.back().begin;
    const auto members = kept<Member>(memory(), stack_.size() - begin);
    std::uninitialized_copy(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end(),
                            const_cast<Member*>(members.data()));
    return close(Value(members));
  }
  bool EndArray(std::size_t) {
    const std::size_t begin = open_.back().begin;
    const auto items = kept<Value>(memory(), stack_.size() - begin);
    std::transform(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end(),
                   const_cast<Value*>(items.data()), [](const Member& each) { return each.value; });
    return close(Value(items));
  }
  bool Key(const char* text, std::size_t size, bool) {
    if (!is_fit({text, size})) return false;
    Open& object = open_.back();
    object.key = kept_text({text, size});
    if (!is_there(object)) return true;
    failure_ = pointer() + ": the key is there twice";
    return false;
  }

 private:
  bool is_there(Open& object) {
    const std::size_t count = stack_.size() - object.begin;
    if (count < kManyKeys) {
      return std::any_of(stack_.begin() + static_cast<std::ptrdiff_t>(object.begin), stack_.end(),
                         [&](const Member& member) { return member.key == object.key; });
    }
    if (!object.keys) {
      object.keys = std::make_unique<std::unordered_set<std::string_view>>();
      for (std::size_t i = object.begin; i < stack_.size(); ++i) object.keys->insert(stack_[i].key);
    }
    return !object.keys->insert(object.key).second;
  }

  bool break_off(const char* text, rapidjson::ParseErrorCode why) {
    const auto into = static_cast<std::size_t>(text - blocks_->begin());
    failure_ = broken(blocks_->before() + into, rapidjson::GetParseError_En(why));
    return false;
  }

  /// The parser's own look at each letter takes as long as all the rest, and few texts need it. An
  /// escape may stand for half a pair of surrogates, which is no letter.
  bool is_fit(std::string_view text) {
    if (is_ascii(text) || is_utf8(text)) return true;
    return break_off(text.data(), rapidjson::kParseErrorStringInvalidEncoding);
  }

  /// Of an item the blocks stay until it was handed on.
  std::string_view kept_text(std::string_view text) {
    if (blocks_->stays() || in_item_) return text;
    return copied(memory(), text);
  }

  std::string broken(std::size_t position, const char* why) const {
    const std::string where = pointer();
    return (where.empty() ? "/" : where) + ": broken at byte " + std::to_string(position) + ": " +
           why;
  }

  std::string pointer() const {
    std::string text;
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const std::size_t end = i + 1 < open_.size() ? open_[i + 1].begin : stack_.size();
      const std::size_t next = open_[i].handed + end - open_[i].begin;
      text += "/" + (open_[i].is_list ? std::to_string(next) : pointer_part(open_[i].key));
    }
    return text;
  }

  /// Is the innermost open container one of the lists whose items are handed on?
  bool is_in_list() const {
    return on_item_ != nullptr && open_.size() == 2 && open_[1].is_list && !open_[0].is_list &&
           std::find(lists_.begin(), lists_.end(), open_[0].key) != lists_.end();
  }

  std::pmr::memory_resource& memory() {
    if (in_item_) return items_;
    return *parsed_.memory_;
  }

  bool add(Value value) {
    if (open_.empty())
      parsed_.value_ = value;
    else if (is_in_list())
      hand_on(value);
    else
      stack_.push_back({open_.back().key, value});
    return true;
  }

  void hand_on(const Value& item) {
    (*on_item_)(open_[0].key, open_[1].handed++, item);
    items_.release();
    blocks_->give_up_former();
  }

  bool open(bool is_list) {
    if (open_.size() >= most_depth_) {
      failure_ = pointer() + ": nested deeper than " + std::to_string(most_depth_);
      return false;
    }
    in_item_ = in_item_ || is_in_list();
    open_.push_back({is_list, stack_.size(), 0, {}, nullptr});
    return true;
  }

  bool close(Value value) {
    stack_.resize(open_.back().begin);
    open_.pop_back();
    in_item_ = in_item_ && open_.size() > 2;
    return add(value);
  }

  std::size_t most_depth_;
  std::span<const std::string_view> lists_;
  const OnItem* on_item_;
  Blocks* blocks_ = nullptr;
  Parsed parsed_;
  std::vector<std::byte> first_{on_item_ != nullptr ? kItemBytes : 0};
  std::pmr::monotonic_buffer_resource items_{first_.data(), first_.size()};
  bool in_item_ = false;
  std::vector<Open> open_;
  std::vector<Member> stack_;  ///< what all open containers hold so far
  std::string failure_;
};

Parsed parse_strict(std::string text, const std::string& file, std::size_t most_depth) {
  return Parsing(most_depth, {}, nullptr).read(std::move(text), file);
}

Parsed parse_strict(Blocks& blocks, const std::string& file,
                    std::span<const std::string_view> lists, const OnItem& on_item,
                    std::size_t most_depth) {
  return Parsing(most_depth, lists, &on_item).read(blocks, file);
}

}  // namespace dlbench::results
