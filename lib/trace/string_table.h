#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace doctor {

/// The largest number of bytes kept of a name or a text: a page repeats names, and names of real jobs have hundreds of
/// bytes.
inline constexpr std::size_t kLongestName = std::size_t{1} << 16;

/// The text itself, or if it is longer than kLongestName, its beginning and an ellipsis, together at most that long.
std::string shortened_name(std::string_view text);

/// Every distinct string of a trace, once. Views stay valid as long as the table; id 0 is the empty string.
class StringTable {
 public:
  /// The largest number of distinct strings; recorded traces have thousands. All further ones become "…", so that no
  /// file fills the memory with names.
  static constexpr std::size_t kMostStrings = std::size_t{1} << 17;

  StringTable();

  /// Interns the shortened_name() of a text.
  StringId intern(std::string_view text);
  /// How often intern() was given a string beyond the limit.
  std::uint64_t refused() const { return refused_; }
  std::string_view operator[](StringId id) const { return texts_[index_of(id)]; }
  std::size_t size() const { return texts_.size(); }

 private:
  static constexpr StringId kNoString{UINT32_MAX};

  StringId& place_of(std::string_view text);
  std::string_view keep(std::string_view text);
  void add_places();

  // Texts as views into blocks: a trace may have a hundred thousand names, and an object and a node for each would take
  // twice as much memory as their bytes.
  std::vector<std::string_view> texts_;  ///< indexed by StringId, in `blocks_`
  std::vector<std::unique_ptr<char[]>> blocks_;
  char* block_end_ = nullptr;  ///< the end of the last block
  std::size_t free_ = 0;       ///< free bytes before `block_end_`
  /// a hash table: the number of places is a power of two, and at most half of them are taken
  std::vector<StringId> places_;
  std::uint64_t refused_ = 0;
};

}  // namespace doctor
