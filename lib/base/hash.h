#pragma once

#include <cstdint>
#include <string_view>

namespace doctor {

/// 64-bit FNV-1a (draft-eastlake-fnv), the same on every machine. Keeps nothing hostile out.
constexpr std::uint64_t fnv1a_64(std::string_view text) {
  constexpr std::uint64_t kOffset = 0xcbf29ce484222325;
  constexpr std::uint64_t kPrime = 0x100000001b3;
  std::uint64_t hash = kOffset;
  for (const char byte : text) hash = (hash ^ static_cast<unsigned char>(byte)) * kPrime;
  return hash;
}

}  // namespace doctor
