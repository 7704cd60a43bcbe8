#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include "text/json_page.h"

namespace doctor {

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

/// The object as a value, for what is drawn from it.
class JsonObjectValue {
 public:
  void add(std::string_view key, OrderedJson value) { value_[std::string(key)] = std::move(value); }

  template <typename Element>
  void add_array(std::string_view key, std::size_t count, Element element) {
    OrderedJson array = OrderedJson::array();
    for (std::size_t index = 0; index < count; ++index) array.push_back(element(index));
    add(key, std::move(array));
  }

  OrderedJson finish() { return std::move(value_); }

 private:
  OrderedJson value_ = OrderedJson::object();
};

}  // namespace doctor
