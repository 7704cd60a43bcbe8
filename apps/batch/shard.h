#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace doctor {

/// One of several parts of a list of traces, told by a hash of the path: the same path is in the same part wherever and
/// whenever the list is cut.
struct Shard {
  std::uint64_t index = 1;  ///< from 1
  std::uint64_t count = 1;

  bool has(std::string_view path) const;
};

/// "2/8". Nothing for any other text.
std::optional<Shard> parse_shard(std::string_view text);

}  // namespace doctor
