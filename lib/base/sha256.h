#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace doctor {

/// SHA-256 (FIPS 180-4) of bytes that arrive piece by piece. It identifies the content of a stored trace and protects
/// nothing, so it is not worth loading the five megabytes of libcrypto at every start. It uses the processor's SHA
/// instructions where there are any.
class Sha256 {
 public:
  void add(std::string_view bytes);

  /// The digest of all bytes added, as 64 hexadecimal digits. Nothing may be added afterwards.
  std::string finish();

 private:
  static constexpr std::size_t kBlockSize = 64;

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, kBlockSize>
      block_{};             ///< the `size_ % kBlockSize` bytes that wait for the rest of their block
  std::uint64_t size_ = 0;  ///< bytes added
};

using Sha256State = std::array<std::uint32_t, 8>;

/// Two ways to take whole blocks of 64 bytes into the state, with equal results. The second needs a processor with SHA
/// instructions.
void add_blocks_portably(Sha256State& state, std::span<const unsigned char> blocks);
void add_blocks_with_sha_instructions(Sha256State& state, std::span<const unsigned char> blocks);

/// Tests whether this processor has SHA instructions.
bool has_sha_instructions();

}  // namespace doctor
