#include "text/json_object_text.h"

#include <utility>

namespace doctor {

void JsonObjectText::begin_member(std::string_view key) {
  text_ += text_.empty() ? "{\n  " : ",\n  ";
  text_ += to_line(key);
  text_ += ": ";
}

void JsonObjectText::append(const OrderedJson& value, std::size_t indent) {
  std::string spelled = to_text(value);
  spelled.pop_back();  // the line feed
  // Strings have none: their line feeds are escaped.
  std::string_view rest = spelled;
  for (std::size_t end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
    text_.append(rest.substr(0, end + 1)).append(indent, ' ');
    rest.remove_prefix(end + 1);
  }
  text_ += rest;
}

void JsonObjectText::add(std::string_view key, const OrderedJson& value) {
  begin_member(key);
  append(value, 2);
}

std::string JsonObjectText::finish() {
  text_ += text_.empty() ? "{}\n" : "\n}\n";
  return std::move(text_);
}

}  // namespace doctor
