#include "text/json_page.h"

#include <fmt/format.h>

#include <iterator>

#include "text/escape.h"

namespace doctor {
namespace {

/// Bytes that are written in a JSON string as they are.
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t byte = 0x20; byte < 0x80; ++byte) plain[byte] = byte != '"' && byte != '\\';
  return plain;
}();

std::string_view word_of_process = "none";

bool is_plain(char c) {
  return kPlain[static_cast<unsigned char>(c)];
}

/// For some reader of lines, though JSON allows some of them: control characters, and what Unicode has to end lines.
bool ends_line(std::uint32_t code) {
  return code < 0x20 || (code >= 0x80 && code < 0xa0) || code == 0x2028 || code == 0x2029;
}

/// Appends the first character of `text` and returns its length in bytes.
std::size_t append_special_character(std::string& out, std::string_view text) {
  const char first = text.front();
  if (first == '"' || first == '\\') {
    out += '\\';
    out += first;
    return 1;
  }
  const Utf8Character character = first_utf8_character(text);
  if (character.length == 0) {
    out += kReplacementCharacter;
    return 1;
  }
  if (ends_line(character.code)) {
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", character.code);
  } else {
    out += text.substr(0, character.length);
  }
  return character.length;
}

}  // namespace

std::string to_text(const OrderedJson& page) {
  return page.dump(2, ' ', /*ensure_ascii=*/true, OrderedJson::error_handler_t::replace) + "\n";
}

std::string to_line(const OrderedJson& json) {
  return json.dump(-1, ' ', /*ensure_ascii=*/true, OrderedJson::error_handler_t::replace);
}

OrderedJson tool_json() {
  return {{"name", "tfdata-doctor"}, {"version", DOCTOR_VERSION}, {"sandbox", sandbox_word()}};
}

OrderedJson begun_page(std::string_view schema) {
  return {{"schema", schema}, {"tool", tool_json()}};
}

std::string_view sandbox_word() {
  return word_of_process;
}

void set_sandbox_word(std::string_view word) {
  word_of_process = word;
}

void append_json_string(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    const auto special = std::find_if_not(text.begin(), text.end(), [](char c) { return is_plain(c); });
    const auto plain = static_cast<std::size_t>(special - text.begin());
    out += text.substr(0, plain);
    text.remove_prefix(plain);
    if (!text.empty()) text.remove_prefix(append_special_character(out, text));
  }
  out += '"';
}

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
