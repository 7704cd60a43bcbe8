#include "base/sha256.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace doctor {
namespace {

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes (FIPS 180-4, 4.2.2).
alignas(16) constexpr std::array<std::uint32_t, 64> kRoundConstants = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

std::uint32_t big_endian_word(const unsigned char* bytes) {
  return std::uint32_t{bytes[0]} << 24 | std::uint32_t{bytes[1]} << 16 | std::uint32_t{bytes[2]} << 8 | bytes[3];
}

void add_block(Sha256State& state, const unsigned char* block) {
  std::array<std::uint32_t, 64> words;
  for (std::size_t i = 0; i < 16; ++i) words[i] = big_endian_word(block + 4 * i);
  for (std::size_t i = 16; i < 64; ++i) {
    const std::uint32_t early = words[i - 15];
    const std::uint32_t late = words[i - 2];
    words[i] = words[i - 16] + (std::rotr(early, 7) ^ std::rotr(early, 18) ^ (early >> 3)) + words[i - 7] +
               (std::rotr(late, 17) ^ std::rotr(late, 19) ^ (late >> 10));
  }
  auto [a, b, c, d, e, f, g, h] = state;
  for (std::size_t i = 0; i < 64; ++i) {
    const std::uint32_t first = h + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) + ((e & f) ^ (~e & g)) +
                                kRoundConstants[i] + words[i];
    const std::uint32_t second =
        (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = d + first;
    d = c;
    c = b;
    b = a;
    a = first + second;
  }
  const Sha256State rounds = {a, b, c, d, e, f, g, h};
  for (std::size_t i = 0; i < state.size(); ++i) state[i] += rounds[i];
}

void add_blocks(Sha256State& state, std::span<const unsigned char> blocks) {
  static const bool is_fast = has_sha_instructions();
  if (is_fast) {
    add_blocks_with_sha_instructions(state, blocks);
  } else {
    add_blocks_portably(state, blocks);
  }
}

}  // namespace

void add_blocks_portably(Sha256State& state, std::span<const unsigned char> blocks) {
  for (std::size_t at = 0; at + 64 <= blocks.size(); at += 64) add_block(state, blocks.data() + at);
}

#if defined(__x86_64__)

bool has_sha_instructions() {
  unsigned int a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned int kSsse3AndSse41 = bit_SSSE3 | bit_SSE4_1;
  if (__get_cpuid(1, &a, &b, &c, &d) == 0 || (c & kSsse3AndSse41) != kSsse3AndSse41) return false;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & bit_SHA) != 0;
}

/// sha256rnds2 does two rounds and wants the state as {a, b, e, f} and {c, d, g, h}; sha256msg1 and sha256msg2 make
/// four words of the schedule (Intel's "New Instructions Supporting the Secure Hash Algorithm", 2013).
__attribute__((target("sha,sse4.1,ssse3"))) void add_blocks_with_sha_instructions(
    Sha256State& state, std::span<const unsigned char> blocks) {
  const __m128i to_big_endian = _mm_set_epi64x(0x0c0d0e0f08090a0b, 0x0405060700010203);
  const auto* const words = reinterpret_cast<const __m128i*>(state.data());
  const __m128i badc = _mm_shuffle_epi32(_mm_loadu_si128(words), 0xb1);
  const __m128i hgfe = _mm_shuffle_epi32(_mm_loadu_si128(words + 1), 0x1b);
  __m128i abef = _mm_alignr_epi8(badc, hgfe, 8);
  __m128i cdgh = _mm_blend_epi16(hgfe, badc, 0xf0);

  for (std::size_t at = 0; at + 64 <= blocks.size(); at += 64) {
    const __m128i abef_before = abef;
    const __m128i cdgh_before = cdgh;
    const auto* const block = reinterpret_cast<const __m128i*>(blocks.data() + at);
    __m128i schedule[4];  // not std::array: gcc warns that it drops the attributes of __m128i
    for (std::size_t i = 0; i < 4; ++i) schedule[i] = _mm_shuffle_epi8(_mm_loadu_si128(block + i), to_big_endian);
    for (std::size_t group = 0; group < 16; ++group) {
      __m128i& current = schedule[group % 4];
      if (group >= 4) {
        const __m128i last = schedule[(group + 3) % 4];
        const __m128i middle = _mm_alignr_epi8(last, schedule[(group + 2) % 4], 4);
        current = _mm_sha256msg1_epu32(current, schedule[(group + 1) % 4]);
        current = _mm_sha256msg2_epu32(_mm_add_epi32(current, middle), last);
      }
      const auto* const constants = reinterpret_cast<const __m128i*>(kRoundConstants.data() + 4 * group);
      const __m128i input = _mm_add_epi32(current, _mm_load_si128(constants));
      cdgh = _mm_sha256rnds2_epu32(cdgh, abef, input);
      abef = _mm_sha256rnds2_epu32(abef, cdgh, _mm_shuffle_epi32(input, 0x0e));
    }
    abef = _mm_add_epi32(abef, abef_before);
    cdgh = _mm_add_epi32(cdgh, cdgh_before);
  }

  const __m128i feba = _mm_shuffle_epi32(abef, 0x1b);
  const __m128i dchg = _mm_shuffle_epi32(cdgh, 0xb1);
  auto* const out = reinterpret_cast<__m128i*>(state.data());
  _mm_storeu_si128(out, _mm_blend_epi16(feba, dchg, 0xf0));
  _mm_storeu_si128(out + 1, _mm_alignr_epi8(dchg, feba, 8));
}

#else

bool has_sha_instructions() {
  return false;
}

void add_blocks_with_sha_instructions(Sha256State& state, std::span<const unsigned char> blocks) {
  add_blocks_portably(state, blocks);
}

#endif

void Sha256::add(std::string_view bytes) {
  const std::size_t waiting = size_ % kBlockSize;
  size_ += bytes.size();
  if (waiting > 0) {
    const std::size_t taken = std::min(kBlockSize - waiting, bytes.size());
    std::memcpy(block_.data() + waiting, bytes.data(), taken);
    bytes.remove_prefix(taken);
    if (waiting + taken < kBlockSize) return;
    add_blocks(state_, block_);
  }
  const std::size_t whole = bytes.size() - bytes.size() % kBlockSize;
  add_blocks(state_, {reinterpret_cast<const unsigned char*>(bytes.data()), whole});
  bytes.remove_prefix(whole);
  if (!bytes.empty()) std::memcpy(block_.data(), bytes.data(), bytes.size());
}

std::string Sha256::finish() {
  const std::uint64_t bits = size_ * 8;
  // A one, then zeros up to the last eight bytes of a block, which hold the number of bits.
  const std::size_t waiting = size_ % kBlockSize;
  std::string padding((waiting < 56 ? 56 : 120) - waiting, '\0');
  padding[0] = '\x80';
  for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift & 0xff);
  add(padding);

  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const std::uint32_t word : state_) {
    for (int shift = 28; shift >= 0; shift -= 4) text += kDigits[word >> shift & 0xf];
  }
  return text;
}

}  // namespace doctor
