#include "config/toml_text.h"

#include <algorithm>

namespace doctor {
namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_ascii(char byte) {
  return static_cast<unsigned char>(byte) < 0x80;
}

bool is_blank(char byte) {
  return byte == ' ' || byte == '\t' || byte == '\n' || byte == '\r' || byte == '\v' || byte == '\f';
}

/// Goes over a document as far as it is TOML. What follows a fault may be taken for a string or not: the parser has
/// stopped there.
class TomlWalk {
 public:
  explicit TomlWalk(std::string_view document) : document_(document) {}

  /// The first foreign character; the size of the document where there is none.
  std::size_t find() {
    while (at_ < document_.size() && !is_found_) {
      const char byte = document_[at_];
      if (byte == '#') {
        at_ = std::min(document_.find('\n', at_), document_.size());
      } else if ((byte == '"' || byte == '\'') && may_begin_string()) {
        pass_string(byte);
      } else if (is_ascii(byte)) {
        ++at_;
      } else {
        is_found_ = true;
      }
    }
    return at_;
  }

 private:
  bool is_next(std::string_view text) const { return document_.substr(at_).starts_with(text); }

  /// Not within a bare value such as 202t"x: the parser looks for its end past quotes.
  bool may_begin_string() const {
    const std::size_t last = document_.substr(0, at_).find_last_not_of(" \t");
    return last == std::string_view::npos ||
           std::string_view("\r\n=[,{.").find(document_[last]) != std::string_view::npos;
  }

  void pass_string(char quote) {
    const std::string_view triple = quote == '"' ? R"(""")" : "'''";
    const bool is_long = is_next(triple);
    const std::string_view end = is_long ? triple : triple.substr(0, 1);
    for (at_ += end.size(); at_ < document_.size(); ++at_) {
      if (is_next(end)) return pass_end(quote, is_long);
      if (!is_long && document_[at_] == '\n') return;
      if (quote != '"' || document_[at_] != '\\') continue;
      if (is_long && ends_line()) {
        if (at_ >= document_.size() || is_found_) return;
        --at_;
      } else {
        ++at_;
      }
    }
  }

  /// A long string may end in two quotes of its own.
  void pass_end(char quote, bool is_long) {
    at_ += is_long ? 3 : 1;
    for (int own = 0; is_long && own < 2 && at_ < document_.size() && document_[at_] == quote; ++own) ++at_;
  }

  /// Whether the backslash here stands before blanks, or before a character that may not follow it; then past them.
  bool ends_line() {
    std::size_t next = at_ + 1;
    while (next < document_.size() && is_blank(document_[next])) ++next;
    const bool is_foreign = next < document_.size() && !is_ascii(document_[next]);
    if (next == at_ + 1 && !is_foreign) return false;
    at_ = next;
    is_found_ = is_foreign;
    return true;
  }

  std::string_view document_;
  std::size_t at_ = 0;
  bool is_found_ = false;
};

}  // namespace

std::optional<TomlPlace> foreign_toml_character(std::string_view document) {
  if (document.starts_with(kByteOrderMark)) document.remove_prefix(kByteOrderMark.size());
  const std::size_t at = TomlWalk(document).find();
  if (at >= document.size()) return std::nullopt;
  const std::string_view before = document.substr(0, at);
  const std::size_t line_start = before.rfind('\n') + 1;  // 0 where there is no line feed
  const std::string_view of_line = before.substr(line_start);
  const auto starts_character = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; };
  return TomlPlace{static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n')) + 1,
                   static_cast<std::size_t>(std::count_if(of_line.begin(), of_line.end(), starts_character)) + 1};
}

}  // namespace doctor
