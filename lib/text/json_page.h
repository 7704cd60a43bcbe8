#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace doctor {

// What all JSON pages share. Keys keep the order in which they are written.

using OrderedJson = nlohmann::ordered_json;

/// The text of a page. ASCII only and without invalid UTF-8, so it is safe on a terminal too. Never throws.
std::string to_text(const OrderedJson& page);

/// The value on one line, without a line feed.
std::string to_line(const OrderedJson& json);

/// `tool` of every page.
OrderedJson tool_json();

/// What every page begins with: its schema ("tfdata-doctor.steps/1") and the tool.
OrderedJson begun_page(std::string_view schema);

/// What every machine-readable document says as `sandbox`: "full" where all of the sandbox was in force when the traces
/// were read, "partial" where a part of it was, "none" else, and where no trace is read. It is of the process, as the
/// version is of the program.
std::string_view sandbox_word();

/// `word` is one of the three; it must outlive the process's documents.
void set_sandbox_word(std::string_view word);

template <typename Value>
OrderedJson or_null(const std::optional<Value>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

/// Null unless the value is known.
template <typename Value>
OrderedJson known_or_null(bool is_known, const Value& value) {
  return is_known ? OrderedJson(value) : OrderedJson(nullptr);
}

/// A list of what `json_of` makes of each of the things.
template <typename Things, typename JsonOf>
OrderedJson array_of(const Things& things, JsonOf json_of) {
  OrderedJson array = OrderedJson::array();
  for (const auto& thing : things) array.push_back(json_of(thing));
  return array;
}

/// What a schema calls a value of an enumeration: such words never change.
template <typename Value>
struct SchemaWord {
  Value value;
  std::string_view word;
};

/// The word of the value; that of the last row, if it has none.
template <typename Value>
constexpr std::string_view word_of(Value value, std::initializer_list<SchemaWord<Value>> words) {
  const auto* const row = std::ranges::find(words, value, &SchemaWord<Value>::value);
  return row == words.end() ? (words.end() - 1)->word : row->word;
}

/// A value of an enumeration with its word in a schema and the words for people.
template <typename Value>
struct NamedValue {
  Value value;
  std::string_view word;  ///< it never changes
  std::string_view words;
};

inline OrderedJson text_or_null(const std::string& text) {
  return text.empty() ? OrderedJson(nullptr) : OrderedJson(text);
}

/// Appends a JSON string with its quotes, without making a value of it: for what is written by the million. Bytes that
/// are not UTF-8 become U+FFFD; other characters than ASCII stay as they are, but for those that end a line.
void append_json_string(std::string& out, std::string_view text);

/// An object that is spelled while it is made, so that of a page of megabytes there is its text and no tree of values,
/// which takes four times as much. The same text as to_text() of the whole.
class JsonObjectText {
 public:
  void add(std::string_view key, const OrderedJson& value);

  /// An array of `count` elements, of which `element(index)` makes one.
  template <typename Element>
  void add_array(std::string_view key, std::size_t count, Element element) {
    begin_member(key);
    for (std::size_t index = 0; index < count; ++index) {
      text_ += index == 0 ? "[\n    " : ",\n    ";
      append(element(index), 4);
    }
    text_ += count == 0 ? "[]" : "\n  ]";
  }

  /// The text of the object, with a line feed.
  std::string finish();

 private:
  void begin_member(std::string_view key);
  void append(const OrderedJson& value, std::size_t indent);

  std::string text_;
};

}  // namespace doctor
