#pragma once

#include <cstdint>
#include <string_view>

namespace doctor {

// 64-bit FNV-1a (draft-eastlake-fnv), the same on every machine. It does not resist deliberate collisions.

/// The hash of no bytes.
inline constexpr std::uint64_t kEmptyHash = 0xcbf29ce484222325;

/// Extends a hash by `value`, a byte or a whole number: the hash of what `hash` covers, followed by `value`.
constexpr std::uint64_t hash_with(std::uint64_t hash, std::uint64_t value) {
  return (hash ^ value) * 0x100000001b3;
}

constexpr std::uint64_t fnv1a_64(std::string_view text) {
  std::uint64_t hash = kEmptyHash;
  for (const char byte : text) hash = hash_with(hash, static_cast<unsigned char>(byte));
  return hash;
}

}  // namespace doctor
