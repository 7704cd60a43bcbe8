#include "trace/string_table.h"

namespace doctor {

StringTable::StringTable() {
  intern({});
}

StringId StringTable::intern(std::string_view text) {
  if (const auto found = ids_.find(text); found != ids_.end()) return found->second;
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
