#include "trace/string_table.h"

#include "text/utf8.h"

namespace doctor {

std::string shortened_name(std::string_view text) {
  if (text.size() <= kLongestName) return std::string(text);
  constexpr std::string_view kEllipsis = "…";
  constexpr std::size_t kKept = kLongestName - kEllipsis.size();
  std::size_t end = kKept;
  while (end > kKept - 3 && is_utf8_continuation(text[end])) --end;  // a character has at most 4 bytes
  return std::string(text.substr(0, end)).append(kEllipsis);
}

StringTable::StringTable() {
  intern({});
}

StringId StringTable::intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
  if (text.size() > kLongestName) return intern(shortened_name(text));
  constexpr std::string_view kOthers = "…";
  if (strings_.size() >= kMostStrings - 1 && text != kOthers) {
    ++refused_;
    return intern(kOthers);
  }
  const auto id = static_cast<StringId>(strings_.size());
  strings_.emplace_back(text);
  ids_.emplace(strings_.back(), id);
  return id;
}

}  // namespace doctor
