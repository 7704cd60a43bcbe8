#include "trace/chrome/json_text.h"

#include <cstdint>
#include <cstring>
#include <optional>

namespace doctor {
namespace {

/// Position of the quote that closes the string whose text begins at `from`; npos if it is not there.
std::size_t closing_quote(std::string_view text, std::size_t from) {
  for (std::size_t at = from; at < text.size();) {
    const void* const found = std::memchr(text.data() + at, '"', text.size() - at);
    if (found == nullptr) return std::string_view::npos;
    const auto quote = static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
    std::size_t escapes = 0;
    while (quote - escapes > from && text[quote - escapes - 1] == '\\') ++escapes;
    if (escapes % 2 == 0) return quote;
    at = quote + 1;
  }
  return std::string_view::npos;
}

std::optional<std::uint32_t> parse_hex4(std::string_view text) {
  if (text.size() < 4) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text.substr(0, 4)) {
    std::uint32_t digit = 0;
    if (c >= '0' && c <= '9') {
      digit = static_cast<std::uint32_t>(c - '0');
    } else if (c >= 'a' && c <= 'f') {
      digit = static_cast<std::uint32_t>(c - 'a') + 10;
    } else if (c >= 'A' && c <= 'F') {
      digit = static_cast<std::uint32_t>(c - 'A') + 10;
    } else {
      return std::nullopt;
    }
    value = value << 4 | digit;
  }
  return value;
}

void append_utf8(std::string& text, std::uint32_t code) {
  const auto continuation = [&](unsigned shift) {
    text.push_back(static_cast<char>(0x80u | ((code >> shift) & 0x3fu)));
  };
  if (code < 0x80) {
    text.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    text.push_back(static_cast<char>(0xc0u | (code >> 6)));
    continuation(0);
  } else if (code < 0x1'0000) {
    text.push_back(static_cast<char>(0xe0u | (code >> 12)));
    continuation(6);
    continuation(0);
  } else {
    text.push_back(static_cast<char>(0xf0u | (code >> 18)));
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

/// Appends the character of the `\uXXXX` (or pair of them) that `text` begins with; returns its length, 0 if malformed.
std::size_t append_unicode_escape(std::string& out, std::string_view text) {
  constexpr std::uint32_t kReplacement = 0xfffd;
  const std::optional<std::uint32_t> unit = parse_hex4(text.substr(2));
  if (!unit) return 0;
  const bool is_high = *unit >= 0xd800 && *unit < 0xdc00;
  if (is_high && text.substr(6).starts_with("\\u")) {
    const std::optional<std::uint32_t> low = parse_hex4(text.substr(8));
    if (low && *low >= 0xdc00 && *low < 0xe000) {
      append_utf8(out, 0x1'0000 + ((*unit - 0xd800) << 10) + (*low - 0xdc00));
      return 12;
    }
  }
  const bool is_surrogate = *unit >= 0xd800 && *unit < 0xe000;
  append_utf8(out, is_surrogate ? kReplacement : *unit);
  return 6;
}

bool may_follow_string(char c) {
  return c == ':' || c == ',' || c == '}' || c == ']';
}

bool may_precede_value(char c) {
  return c == '{' || c == '[' || c == ',' || c == ':';
}

/// Characters of numbers and of true, false, null, NaN, Infinity.
bool is_bare(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '+' || c == '.';
}

std::size_t skip_space_from(std::string_view text, std::size_t at) {
  while (at < text.size() && is_json_space(text[at])) ++at;
  return at;
}

void drop_space(std::string_view& text) {
  while (!text.empty() && is_json_space(text.front())) text.remove_prefix(1);
}

std::size_t bare_end(std::string_view text) {
  std::size_t at = 0;
  while (at < text.size() && is_bare(text[at])) ++at;
  return at;
}

}  // namespace

std::string_view unescape_json(std::string_view raw, std::string& scratch) {
  if (raw.empty() || std::memchr(raw.data(), '\\', raw.size()) == nullptr) return raw;
  constexpr std::string_view kLetters = "\"\\/bfnrt";
  constexpr std::string_view kMeanings = "\"\\/\b\f\n\r\t";
  scratch.clear();
  for (std::size_t at = 0; at < raw.size();) {
    if (raw[at] != '\\' || at + 1 == raw.size()) {
      scratch.push_back(raw[at++]);
      continue;
    }
    if (raw[at + 1] == 'u') {
      if (const std::size_t length = append_unicode_escape(scratch, raw.substr(at))) {
        at += length;
        continue;
      }
    }
    const std::size_t letter = kLetters.find(raw[at + 1]);
    if (letter == std::string_view::npos) {
      scratch.append(raw.substr(at, 2));
    } else {
      scratch.push_back(kMeanings[letter]);
    }
    at += 2;
  }
  return scratch;
}

JsonExtent measure_json_value(std::string_view text) {
  using enum JsonExtent::Status;
  std::string open;     // the brackets
  char previous = ':';  // the last character that is not white space
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (is_json_space(c)) continue;
    if (c == '"') {
      if (!may_precede_value(previous)) return {malformed, at};
      const std::size_t quote = closing_quote(text, at + 1);
      if (quote == std::string_view::npos) return {incomplete, text.size()};
      if (open.empty()) return {complete, quote + 1};
      const std::size_t next = skip_space_from(text, quote + 1);
      if (next < text.size() && !may_follow_string(text[next])) return {malformed, next};
      at = quote;
    } else if (c == '{' || c == '[') {
      const bool is_key_place = !open.empty() && open.back() == '{' && previous != ':';
      if (is_key_place || !may_precede_value(previous)) return {malformed, at};
      open.push_back(c);
    } else if (c == '}' || c == ']') {
      if (open.empty() || (open.back() == '{') != (c == '}')) return {malformed, at};
      open.pop_back();
      if (open.empty()) return {complete, at + 1};
    } else if (open.empty()) {
      const std::size_t size = bare_end(text.substr(at));
      if (size == 0) return {malformed, at};
      return {at + size == text.size() ? incomplete : complete, at + size};
    } else if (c != ',' && c != ':' && !is_bare(c)) {
      return {malformed, at};
    }
    previous = c;
  }
  return {incomplete, text.size()};
}

std::size_t last_event_boundary(std::string_view text) {
  for (std::size_t brace = text.rfind('{'); brace != std::string_view::npos && brace > 0;
       brace = text.rfind('{', brace - 1)) {
    std::size_t at = brace;
    while (at > 0 && is_json_space(text[at - 1])) --at;
    if (at == 0 || text[at - 1] != ',') continue;
    --at;
    while (at > 0 && is_json_space(text[at - 1])) --at;
    if (at > 0 && text[at - 1] == '}') return at;
  }
  return 0;
}

std::size_t first_event_boundary(std::string_view text) {
  // What is malformed may be an array.
  for (std::size_t brace = text.find_first_of("}]"); brace != std::string_view::npos;
       brace = text.find_first_of("}]", brace + 1)) {
    const std::size_t comma = skip_space_from(text, brace + 1);
    if (comma == text.size() || text[comma] != ',') continue;
    const std::size_t next = skip_space_from(text, comma + 1);
    if (next < text.size() && text[next] == '{') return next;
  }
  return std::string_view::npos;
}

JsonMembers::JsonMembers(std::string_view object) : rest_(object) {
  drop_space(rest_);
  if (rest_.starts_with('{')) {
    rest_.remove_prefix(1);
  } else {
    rest_ = {};
  }
}

bool JsonMembers::next(JsonMember& member) {
  drop_space(rest_);
  if (rest_.starts_with(',')) rest_.remove_prefix(1);
  drop_space(rest_);
  if (!rest_.starts_with('"')) return false;
  const std::size_t key_end = closing_quote(rest_, 1);
  if (key_end == std::string_view::npos) return false;
  member.key = rest_.substr(1, key_end - 1);
  rest_.remove_prefix(key_end + 1);
  drop_space(rest_);
  if (!rest_.starts_with(':')) return false;
  rest_.remove_prefix(1);
  drop_space(rest_);

  member.is_string = rest_.starts_with('"');
  if (member.is_string) {
    const std::size_t end = closing_quote(rest_, 1);
    if (end == std::string_view::npos) return false;
    member.value = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    return true;
  }
  const JsonExtent extent = measure_json_value(rest_);
  if (extent.status != JsonExtent::Status::complete) return false;
  member.value = rest_.substr(0, extent.size);
  rest_.remove_prefix(extent.size);
  return true;
}

}  // namespace doctor
