#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace doctor {

/// Bytes of a name or a text that are kept: a page repeats names, and names of real jobs have hundreds of bytes.
inline constexpr std::size_t kLongestName = std::size_t{1} << 16;

/// The text, or where it is longer than kLongestName its beginning and an ellipsis, which are no longer than that.
std::string shortened_name(std::string_view text);

/// Every distinct string of a trace, once. Views stay valid as long as the table; id 0 is the empty string.
class StringTable {
 public:
  /// Recorded traces have thousands. All others are one, "…", so that no file fills the memory with names.
  static constexpr std::size_t kMostStrings = std::size_t{1} << 17;

  StringTable();

  /// Of its shortened_name().
  StringId intern(std::string_view text);
  /// How often intern() was given one of those others.
  std::uint64_t refused() const { return refused_; }
  std::string_view operator[](StringId id) const { return texts_[index_of(id)]; }
  std::size_t size() const { return texts_.size(); }

 private:
  static constexpr StringId kNoString{UINT32_MAX};

  StringId& place_of(std::string_view text);
  std::string_view keep(std::string_view text);
  void add_places();

  // A trace may have a hundred thousand names: an object and a node for each would take twice as much as their bytes.
  std::vector<std::string_view> texts_;  ///< indexed by StringId, in `blocks_`
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* block_end_ = nullptr;     ///< of the last block
  std::size_t free_ = 0;          ///< bytes before that
  std::vector<StringId> places_;  ///< a hash table: a power of two of them, at most half of them taken
  std::uint64_t refused_ = 0;
};

}  // namespace doctor
