#include "trace/string_table.h"

#include <algorithm>
#include <functional>

#include "text/escape.h"

namespace doctor {
namespace {

/// As many as most recorded traces need.
constexpr std::size_t kFirstPlaces = 1'024;

}  // namespace

std::string shortened_name(std::string_view text) {
  if (text.size() <= kLongestName) return std::string(text);
  constexpr std::string_view kEllipsis = "…";
  constexpr std::size_t kKept = kLongestName - kEllipsis.size();
  std::size_t end = kKept;
  while (end > kKept - 3 && is_utf8_continuation(text[end])) --end;  // a character has at most 4 bytes
  return std::string(text.substr(0, end)).append(kEllipsis);
}

StringTable::StringTable() : places_(kFirstPlaces, kNoString) {
  intern({});
}

StringId StringTable::intern(std::string_view text) {
  if (text.size() > kLongestName) return intern(shortened_name(text));
  StringId& place = place_of(text);
  if (place != kNoString) return place;
  constexpr std::string_view kOthers = "…";
  if (texts_.size() >= kMostStrings - 1 && text != kOthers) {
    ++refused_;
    return intern(kOthers);
  }
  const auto id = static_cast<StringId>(texts_.size());
  place = id;
  texts_.push_back(keep(text));
  if (2 * texts_.size() > places_.size()) add_places();
  return id;
}

/// Where the text is, or the free place where it belongs.
StringId& StringTable::place_of(std::string_view text) {
  const std::size_t last = places_.size() - 1;
  for (std::size_t index = std::hash<std::string_view>()(text) & last; true; index = (index + 1) & last) {
    StringId& place = places_[index];
    if (place == kNoString || (*this)[place] == text) return place;
  }
}

/// A copy that stays where it is.
std::string_view StringTable::keep(std::string_view text) {
  constexpr std::size_t kBlock = std::size_t{16} << 10;
  if (text.empty()) return "";
  if (text.size() > free_) {
    free_ = std::max(kBlock, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(free_));
    block_end_ = blocks_.back().get() + free_;
  }
  char* const kept = block_end_ - free_;
  std::copy(text.begin(), text.end(), kept);
  free_ -= text.size();
  return {kept, text.size()};
}

void StringTable::add_places() {
  places_.assign(2 * places_.size(), kNoString);
  for (std::size_t index = 0; index < texts_.size(); ++index) place_of(texts_[index]) = static_cast<StringId>(index);
}

}  // namespace doctor
