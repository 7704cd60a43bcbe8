#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/ids.h"

namespace doctor {

/// Every distinct string of a trace, once. Views stay valid as long as the table; id 0 is the empty string.
class StringTable {
 public:
  StringTable();

  StringId intern(std::string_view text);
  std::string_view operator[](StringId id) const { return strings_[index_of(id)]; }
  std::size_t size() const { return strings_.size(); }

 private:
  std::deque<std::string> strings_;
  std::unordered_map<std::string_view, StringId> ids_;
};

}  // namespace doctor
