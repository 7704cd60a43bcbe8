// Both inflaters: whole streams, damaged ones, and reads of any size.

#include "io/gzip.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/byte_source.h"
#include "read_bytes.h"
#include "temporary_directory.h"

namespace doctor::io_test {
namespace {

std::string noise(std::size_t length) {
  std::string bytes(length, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1'664'525u + 1'013'904'223u;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

std::string gzip_with_long_header(const std::string& text) {
  std::string extra(300, 'e');
  std::string file_name = "host.trace.json";
  std::string comment = "a comment";
  gz_header header{};
  header.extra = reinterpret_cast<Bytef*>(extra.data());
  header.extra_len = static_cast<uInt>(extra.size());
  header.name = reinterpret_cast<Bytef*>(file_name.data());
  header.comment = reinterpret_cast<Bytef*>(comment.data());
  header.hcrc = 1;
  return gzipped(text, &header);
}

std::string gzip_with_extra_field(const std::string& text) {
  std::string extra(300, '\0');
  gz_header header{};
  header.extra = reinterpret_cast<Bytef*>(extra.data());
  header.extra_len = static_cast<uInt>(extra.size());
  return gzipped(text, &header);
}

std::string with_flipped_bit(std::string bytes, std::size_t position) {
  bytes[position] = static_cast<char>(bytes[position] ^ 1);
  return bytes;
}

/// Takes every byte there is as read ahead and finds out only after the next refill that the stream had ended before
/// the trailer.
class ReadingAhead final : public Inflater {
 public:
  void restart() override { calls_ = 0; }
  Step inflate(std::string_view input, char* output, std::size_t) override {
    switch (calls_++) {
      case 0:
        *output = 'x';
        return {static_cast<std::ptrdiff_t>(input.size()), 1, State::more};
      case 1:
        return {0, 0, State::more};
      default:
        return {-8, 0, State::end};
    }
  }
  std::uint32_t checksum() const override {
    return static_cast<std::uint32_t>(::crc32(0, reinterpret_cast<const Bytef*>("x"), 1));
  }

 private:
  int calls_ = 0;
};

TEST_CASE("gzip streams, whole and damaged") {
  const std::string text = sample_text(3'000);
  const std::string other = sample_text(500) + "other";
  const std::string whole = gzipped(text);
  const std::string junk_warning = "bytes after the end of the gzip stream were ignored";
  struct Case {
    const char* name;
    std::string stored;
    std::string bytes;
    std::string what;
  };
  const std::vector<Case> cases = {
      {"one member", whole, text, ""},
      {"two members", whole + gzipped(other), text + other, ""},
      {"an empty member between two", whole + gzipped("") + gzipped(other), text + other, ""},
      {"only an empty member", gzipped(""), "", ""},
      {"all optional header fields", gzip_with_long_header(text) + gzip_with_long_header(other), text + other, ""},
      {"only an extra field", gzip_with_extra_field(text), text, ""},
      {"stored blocks", gzipped(text, nullptr, Z_NO_COMPRESSION), text, ""},
      {"zero padding", whole + std::string(1'000, '\0'), text, ""},
      {"zero padding between members", whole + std::string(512, '\0') + gzipped(other), text + other, ""},
      {"junk", whole + "junk", text, "4 " + junk_warning},
      {"one byte of junk", whole + "j", text, "1 byte after the end of the gzip stream was ignored"},
      {"junk that starts like a member", whole + "\x1f+", text, "2 " + junk_warning},
      {"junk after padding", whole + std::string(10, '\0') + "junk", text, "14 " + junk_warning},
      {"much junk", whole + std::string(400'000, 'j'), text, "400000 " + junk_warning},
      {"wrong checksum", with_flipped_bit(whole, whole.size() - 8), text, "the gzip checksum does not match the data"},
      {"wrong length", with_flipped_bit(whole, whole.size() - 4), text, "the gzip length does not match the data"},
      {"wrong checksum, then a member", with_flipped_bit(whole, whole.size() - 8) + gzipped(other), text + other,
       "the gzip checksum does not match the data"},
      {"wrong checksum, then junk", with_flipped_bit(whole, whole.size() - 8) + "junk", text,
       "the gzip checksum does not match the data"},
      {"wrong checksum, then a cut member", with_flipped_bit(whole, whole.size() - 8) + gzipped("").substr(0, 12), text,
       "the gzip checksum does not match the data"},
      {"another compression method", whole + "\x1f\x8b\x07" + std::string(30, '\0'), text,
       "the gzip header is damaged"},
      {"reserved flags", whole + "\x1f\x8b\x08\xff" + std::string(30, '\0'), text, "the gzip header is damaged"},
      {"a member that ends in its name", whole + gzip_with_long_header(other).substr(0, 315), text,
       "the gzip stream ends early"},
      {"half a magic number", whole + "\x1f", text, "the gzip stream ends early"},
  };
  for (const InflaterChoice& choice : inflaters()) {
    for (const Case& example : cases) {
      CAPTURE(choice.name);
      CAPTURE(example.name);
      const Outcome outcome = inflate_all(choice, example.stored);
      CHECK(outcome.bytes == example.bytes);
      CHECK(outcome.what() == example.what);
      if (outcome.error) {
        CHECK(outcome.error->where == "pieces");
        CHECK_FALSE(outcome.error->next.empty());
      }
    }
  }
}

TEST_CASE("a gzip stream cut anywhere gives a prefix of the truth, then an error") {
  const std::string first = sample_text(2'000);
  const std::string second = sample_text(700);
  const std::string stored = gzip_with_long_header(first) + gzipped(second) + std::string(20, '\0');
  const std::size_t first_end = gzip_with_long_header(first).size();
  const std::size_t second_end = stored.size() - 20;
  for (const InflaterChoice& choice : inflaters()) {
    CAPTURE(choice.name);
    std::size_t recovered = 0;
    for (std::size_t length = 1; length <= stored.size(); ++length) {
      CAPTURE(length);
      const Outcome outcome = inflate_all(choice, stored.substr(0, length));
      REQUIRE((first + second).starts_with(outcome.bytes));
      REQUIRE(outcome.bytes.size() >= recovered);
      recovered = outcome.bytes.size();
      const bool is_whole = length == first_end || length >= second_end;
      REQUIRE(outcome.what() == (is_whole ? "" : "the gzip stream ends early"));
      if (outcome.error) REQUIRE(outcome.error->offset == outcome.bytes.size());
    }
    CHECK(recovered == first.size() + second.size());
  }
}

TEST_CASE("a cut loses next to nothing of what was stored before it") {
  const std::string text = sample_text(300'000);
  const std::string stored = gzipped(text);
  for (const InflaterChoice& choice : inflaters()) {
    CAPTURE(choice.name);
    const Outcome outcome = inflate_all(choice, stored.substr(0, stored.size() / 2), 1'000'000, 100);
    CHECK(text.starts_with(outcome.bytes));
    CHECK(outcome.bytes.size() > text.size() * 45 / 100);
  }
}

TEST_CASE("a damaged bit anywhere in a gzip stream is survived and reported") {
  const std::string text = sample_text(1'000);
  const std::string stored = gzipped(text);
  constexpr std::size_t kHeaderLength = 10;  // of it only method and flags are checked
  for (const InflaterChoice& choice : inflaters()) {
    CAPTURE(choice.name);
    for (std::size_t position = kHeaderLength; position < stored.size(); ++position) {
      CAPTURE(position);
      REQUIRE(inflate_all(choice, with_flipped_bit(stored, position)).error.has_value());
    }
  }
}

TEST_CASE("both inflaters hand out all that lies before damaged data") {
  const std::string text = sample_text(200'000);
  std::string damaged = gzipped(text, nullptr, Z_NO_COMPRESSION);
  const std::size_t second_block = 10 + 5 + 65'535;  // header, block header, the longest stored block
  damaged[second_block] = '\x06';                    // block type 3 does not exist
  for (const InflaterChoice& choice : inflaters()) {
    for (const std::size_t capacity : {std::size_t{1'000}, std::size_t{1'000'000}}) {
      CAPTURE(choice.name);
      CAPTURE(capacity);
      const Outcome outcome = inflate_all(choice, damaged, 1'000'000, capacity);
      CHECK(outcome.bytes == text.substr(0, 65'535));
      CHECK(outcome.what() == "the gzip data is damaged");
      REQUIRE(outcome.error.has_value());
      CHECK(outcome.error->offset == 65'535);
    }
  }
}

TEST_CASE("how a gzip stream is cut into reads does not matter") {
  const std::string text = sample_text(5'000) + noise(300) + std::string(70'000, 'a');
  std::string stored;
  std::string truth;
  for (const std::size_t start : {std::size_t{0}, std::size_t{4'900}, std::size_t{70'000}, std::size_t{75'299}}) {
    stored += gzipped(text.substr(start));
    truth += text.substr(start);
  }
  for (const InflaterChoice& choice : inflaters()) {
    for (std::size_t piece = 1; piece <= 24; ++piece) {
      for (const std::size_t capacity : {std::size_t{1}, std::size_t{333}, std::size_t{65'536}}) {
        CAPTURE(choice.name);
        CAPTURE(piece);
        CAPTURE(capacity);
        const Source source = gzip_source(std::make_unique<PiecewiseSource>(stored, piece), choice.make());
        const Outcome outcome = read_all(*source, capacity);
        REQUIRE(outcome.bytes == truth);
        REQUIRE(outcome.what() == "");
      }
    }
  }
}

TEST_CASE("an inflater that read ahead steps back over a refill") {
  const std::string member = gzipped("x");
  const Source source =
      gzip_source(std::make_unique<PiecewiseSource>(member + "junk", member.size()), std::make_unique<ReadingAhead>());
  const Outcome outcome = read_all(*source);
  CHECK(outcome.bytes == "x");
  CHECK(outcome.what() == "4 bytes after the end of the gzip stream were ignored");
}

TEST_CASE("damaged data never brings out what memory held before") {
  const std::string text = sample_text(3'000);
  const std::string stored = gzipped(text);
  const std::string zeros(70'000, '\0');
  const std::string ones(70'000, '\1');
  for (const InflaterChoice& choice : inflaters()) {
    CAPTURE(choice.name);
    for (std::size_t position = 10; position < stored.size(); ++position) {
      CAPTURE(position);
      const std::string damaged = with_flipped_bit(stored, position);
      const std::string after_zeros = inflate_all(choice, gzipped(zeros) + damaged, 1'000'000, 500).bytes;
      const std::string after_ones = inflate_all(choice, gzipped(ones) + damaged, 1'000'000, 500).bytes;
      REQUIRE(after_zeros.substr(zeros.size()) == after_ones.substr(ones.size()));
    }
  }
}

}  // namespace
}  // namespace doctor::io_test
