#include "base/sha256.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace doctor::sha256_test {
namespace {

std::string sha256_of(std::string_view bytes) {
  Sha256 sha256;
  sha256.add(bytes);
  return sha256.finish();
}

std::string pattern_of(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 131 + (i >> 8));
  return bytes;
}

}  // namespace

// The examples that NIST publishes with FIPS 180-4.
TEST_CASE("digests are those of the standard") {
  CHECK(sha256_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(sha256_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(sha256_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(sha256_of(std::string(1'000'000, 'a')) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("pieces of any size give the digest of the whole") {
  const std::string bytes = pattern_of(1000);
  const std::string whole = sha256_of(bytes);
  for (const std::size_t piece : {1, 7, 55, 56, 63, 64, 65, 128, 999}) {
    CAPTURE(piece);
    Sha256 sha256;
    for (std::size_t at = 0; at < bytes.size(); at += piece) sha256.add(std::string_view(bytes).substr(at, piece));
    CHECK(sha256.finish() == whole);
  }
}

TEST_CASE("the processor's instructions and the portable code agree") {
  if (!has_sha_instructions()) return;
  for (const std::size_t blocks : {1, 2, 3, 64}) {
    const std::string bytes = pattern_of(64 * blocks);
    const auto* const first = reinterpret_cast<const unsigned char*>(bytes.data());
    Sha256State fast = {1, 2, 3, 4, 5, 6, 7, 0xffffffff};
    Sha256State portable = fast;
    add_blocks_with_sha_instructions(fast, {first, bytes.size()});
    add_blocks_portably(portable, {first, bytes.size()});
    CHECK(fast == portable);
  }
}

TEST_CASE("any change of the length up to two blocks changes the padding rightly") {
  // Against coreutils: for n in $(seq 0 129); do head -c $n /dev/zero | sha256sum; done | sha256sum
  std::string all;
  for (std::size_t size = 0; size < 130; ++size) all += sha256_of(std::string(size, '\0')) + "  -\n";
  CHECK(sha256_of(all) == "19e6238845e03804af34469cde92a9e9c12b9459e4fb571bd2d986e7b33111cf");
}

}  // namespace doctor::sha256_test
