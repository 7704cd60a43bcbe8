#include "shard.h"

#include "base/hash.h"
#include "option_values.h"

namespace doctor {

bool Shard::has(std::string_view path) const {
  return fnv1a_64(path) % count == index - 1;
}

std::optional<Shard> parse_shard(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const std::optional<std::size_t> index = parse_number(text.substr(0, slash));
  const std::optional<std::size_t> count = parse_number(text.substr(slash + 1));
  if (!index || !count || *index < 1 || *index > *count) return std::nullopt;
  return Shard{*index, *count};
}

}  // namespace doctor
