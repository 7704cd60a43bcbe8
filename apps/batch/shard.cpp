#include "batch/shard.h"

#include "base/hash.h"
#include "command_line/option_values.h"

namespace doctor {

namespace {

/// The low bits of FNV-1a follow the low bits of the text: paths that are numbered in steps of two would all be in one
/// half. This mixes all bits into all others (the last step of MurmurHash3, Appleby 2011).
std::uint64_t mixed(std::uint64_t hash) {
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccd;
  hash = (hash ^ (hash >> 33)) * 0xc4ceb9fe1a85ec53;
  return hash ^ (hash >> 33);
}

}  // namespace

bool Shard::has(std::string_view path) const {
  return mixed(fnv1a_64(path)) % count == index - 1;
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
