#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "io/byte_source.h"
#include "io/gzip_source.h"
#include "io/inflater.h"
#include "io/stored_source.h"
#include "temporary_directory.h"

namespace doctor::io_test {
namespace {

using Source = std::unique_ptr<ByteSource>;

constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

/// Text that deflate can shorten, but not to nothing.
std::string sample_text(std::size_t length) {
  std::string text;
  std::uint32_t state = 1;
  while (text.size() < length) {
    state = state * 1'664'525u + 1'013'904'223u;
    text += "Iterator::" + std::to_string(state >> 20) + ";";
  }
  text.resize(length);
  return text;
}

std::string noise(std::size_t length) {
  std::string bytes(length, '\0');
  std::uint32_t state = 1;
  for (char& byte : bytes) {
    state = state * 1'664'525u + 1'013'904'223u;
    byte = static_cast<char>(state >> 24);
  }
  return bytes;
}

std::string gzip(std::string text, gz_header* header = nullptr, int level = Z_DEFAULT_COMPRESSION) {
  z_stream stream{};
  REQUIRE(::deflateInit2(&stream, level, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  if (header != nullptr) ::deflateSetHeader(&stream, header);
  std::string out(::deflateBound(&stream, text.size()) + 1024, '\0');
  stream.next_in = reinterpret_cast<Bytef*>(text.data());
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  REQUIRE(::deflate(&stream, Z_FINISH) == Z_STREAM_END);
  out.resize(stream.total_out);
  ::deflateEnd(&stream);
  return out;
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
  return gzip(text, &header);
}

std::string gzip_with_extra_field(const std::string& text) {
  std::string extra(300, '\0');
  gz_header header{};
  header.extra = reinterpret_cast<Bytef*>(extra.data());
  header.extra_len = static_cast<uInt>(extra.size());
  return gzip(text, &header);
}

std::string with_flipped_bit(std::string bytes, std::size_t position) {
  bytes[position] = static_cast<char>(bytes[position] ^ 1);
  return bytes;
}

struct Outcome {
  std::string bytes;
  std::optional<Error> error;

  std::string what() const { return error ? error->what : ""; }
};

/// Reads to the end or the fault, which must stay there when asked again.
Outcome read_all(ByteSource& source, std::size_t capacity = std::size_t{64} * 1024) {
  Outcome outcome;
  std::string buffer(capacity, '\0');
  for (;;) {
    const Result<std::size_t> count = source.read(buffer.data(), buffer.size());
    if (count && *count > 0) {
      outcome.bytes.append(buffer, 0, *count);
      continue;
    }
    if (!count) outcome.error = count.error();
    const Result<std::size_t> again = source.read(buffer.data(), buffer.size());
    REQUIRE(again.has_value() == count.has_value());
    if (again) REQUIRE(*again == 0);
    if (!again) REQUIRE(again.error().what == count.error().what);
    return outcome;
  }
}

/// Hands out at most `piece` bytes a read, as a slow pipe does.
class PiecewiseSource final : public ByteSource {
 public:
  PiecewiseSource(std::string bytes, std::size_t piece) : bytes_(std::move(bytes)), piece_(piece) {}

  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    const std::size_t count = bytes_.copy(buffer, std::min(capacity, piece_), position_);
    position_ += count;
    return count;
  }
  Result<std::uint64_t> skip(std::uint64_t count) override { return skip_by_reading(*this, count); }
  Result<void> rewind() override {
    position_ = 0;
    return {};
  }
  const std::string& name() const override { return name_; }
  std::uint64_t stored_size() const override { return bytes_.size(); }
  std::uint64_t stored_position() const override { return position_; }
  bool is_compressed() const override { return false; }

 private:
  std::string bytes_;
  std::string name_ = "pieces";
  std::size_t piece_;
  std::size_t position_ = 0;
};

/// A pipe that another thread fills, so that its contents may be larger than the kernel's buffer. Read it to its end.
class FilledPipe {
 public:
  explicit FilledPipe(std::string bytes) {
    int ends[2] = {-1, -1};
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    reading_end_ = FileDescriptor(ends[0]);
    writer_ = std::thread([bytes = std::move(bytes), end = FileDescriptor(ends[1])] {
      for (std::size_t written = 0; written < bytes.size();) {
        const ssize_t count = ::write(end.number(), bytes.data() + written, bytes.size() - written);
        if (count < 0) return;
        written += static_cast<std::size_t>(count);
      }
    });
  }
  ~FilledPipe() { writer_.join(); }

  FileDescriptor take_reading_end() { return std::move(reading_end_); }

 private:
  FileDescriptor reading_end_;
  std::thread writer_;
};

/// Puts a descriptor in the place of standard input for a while.
class StandardInput {
 public:
  explicit StandardInput(const FileDescriptor& input) : before_(::dup(STDIN_FILENO)) {
    REQUIRE(::dup2(input.number(), STDIN_FILENO) == STDIN_FILENO);
  }
  ~StandardInput() { ::dup2(before_.number(), STDIN_FILENO); }

 private:
  FileDescriptor before_;
};

struct InflaterChoice {
  const char* name;
  std::unique_ptr<Inflater> (*make)();
};

std::vector<InflaterChoice> inflaters() {
  std::vector<InflaterChoice> choices = {{"zlib", zlib_inflater}};
  if (isal_inflater()) choices.push_back({"ISA-L", isal_inflater});
  return choices;
}

Outcome inflate_all(const InflaterChoice& choice, const std::string& stored, std::size_t piece = 1'000'000,
                    std::size_t capacity = std::size_t{64} * 1024) {
  const Source source = gzip_source(std::make_unique<PiecewiseSource>(stored, piece), choice.make());
  Outcome first = read_all(*source, capacity);
  REQUIRE(source->rewind());
  const Outcome second = read_all(*source, capacity);
  REQUIRE(second.bytes == first.bytes);
  REQUIRE(second.what() == first.what());
  return first;
}

Source open(const std::string& path) {
  Result<Source> source = open_source(path);
  REQUIRE(source.has_value());
  return std::move(*source);
}

TEST_CASE("gzip streams, whole and damaged") {
  const std::string text = sample_text(3'000);
  const std::string other = sample_text(500) + "other";
  const std::string whole = gzip(text);
  const std::string junk_warning = "bytes after the end of the gzip stream were ignored";
  struct Case {
    const char* name;
    std::string stored;
    std::string bytes;
    std::string what;
  };
  const std::vector<Case> cases = {
      {"one member", whole, text, ""},
      {"two members", whole + gzip(other), text + other, ""},
      {"an empty member between two", whole + gzip("") + gzip(other), text + other, ""},
      {"only an empty member", gzip(""), "", ""},
      {"all optional header fields", gzip_with_long_header(text) + gzip_with_long_header(other), text + other, ""},
      {"only an extra field", gzip_with_extra_field(text), text, ""},
      {"stored blocks", gzip(text, nullptr, Z_NO_COMPRESSION), text, ""},
      {"zero padding", whole + std::string(1'000, '\0'), text, ""},
      {"zero padding between members", whole + std::string(512, '\0') + gzip(other), text + other, ""},
      {"junk", whole + "junk", text, "4 " + junk_warning},
      {"one byte of junk", whole + "j", text, "1 byte after the end of the gzip stream was ignored"},
      {"junk that starts like a member", whole + "\x1f+", text, "2 " + junk_warning},
      {"junk after padding", whole + std::string(10, '\0') + "junk", text, "14 " + junk_warning},
      {"much junk", whole + std::string(400'000, 'j'), text, "400000 " + junk_warning},
      {"wrong checksum", with_flipped_bit(whole, whole.size() - 8), text, "the gzip checksum does not match the data"},
      {"wrong length", with_flipped_bit(whole, whole.size() - 4), text, "the gzip length does not match the data"},
      {"wrong checksum, then a member", with_flipped_bit(whole, whole.size() - 8) + gzip(other), text + other,
       "the gzip checksum does not match the data"},
      {"wrong checksum, then junk", with_flipped_bit(whole, whole.size() - 8) + "junk", text,
       "the gzip checksum does not match the data"},
      {"wrong checksum, then a cut member", with_flipped_bit(whole, whole.size() - 8) + gzip("").substr(0, 12), text,
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
  const std::string stored = gzip_with_long_header(first) + gzip(second) + std::string(20, '\0');
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
  const std::string stored = gzip(text);
  for (const InflaterChoice& choice : inflaters()) {
    CAPTURE(choice.name);
    const Outcome outcome = inflate_all(choice, stored.substr(0, stored.size() / 2), 1'000'000, 100);
    CHECK(text.starts_with(outcome.bytes));
    CHECK(outcome.bytes.size() > text.size() * 45 / 100);
  }
}

TEST_CASE("a damaged bit anywhere in a gzip stream is survived and reported") {
  const std::string text = sample_text(1'000);
  const std::string stored = gzip(text);
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
  std::string damaged = gzip(text, nullptr, Z_NO_COMPRESSION);
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
    stored += gzip(text.substr(start));
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

TEST_CASE("an inflater that read ahead steps back over a refill") {
  const std::string member = gzip("x");
  const Source source =
      gzip_source(std::make_unique<PiecewiseSource>(member + "junk", member.size()), std::make_unique<ReadingAhead>());
  const Outcome outcome = read_all(*source);
  CHECK(outcome.bytes == "x");
  CHECK(outcome.what() == "4 bytes after the end of the gzip stream were ignored");
}

TEST_CASE("damaged data never brings out what memory held before") {
  const std::string text = sample_text(3'000);
  const std::string stored = gzip(text);
  const std::string zeros(70'000, '\0');
  const std::string ones(70'000, '\1');
  for (const InflaterChoice& choice : inflaters()) {
    CAPTURE(choice.name);
    for (std::size_t position = 10; position < stored.size(); ++position) {
      CAPTURE(position);
      const std::string damaged = with_flipped_bit(stored, position);
      const std::string after_zeros = inflate_all(choice, gzip(zeros) + damaged, 1'000'000, 500).bytes;
      const std::string after_ones = inflate_all(choice, gzip(ones) + damaged, 1'000'000, 500).bytes;
      REQUIRE(after_zeros.substr(zeros.size()) == after_ones.substr(ones.size()));
    }
  }
}

TEST_CASE("a small gzip that expands to much ends after 64 MiB") {
  const std::string piece = gzip(std::string(std::size_t{16} * 1024 * 1024, '\0'));
  std::string stored;
  for (int i = 0; i < 8; ++i) stored += piece;
  for (const InflaterChoice& choice : inflaters()) {
    CAPTURE(choice.name);
    const Outcome outcome = inflate_all(choice, stored, 4'096, 1'000'000);
    CHECK(outcome.bytes.size() >= std::size_t{64} << 20);
    CHECK(outcome.bytes.size() < std::size_t{66} << 20);
    CHECK(outcome.what() == "the gzip data expands more than 250-fold, as no trace does");
  }
}

TEST_CASE("every kind of source reads, rewinds and skips alike") {
  const std::string text = sample_text(2'500'000);  // more than what a pipe keeps in memory
  const std::string zipped = gzip(text);
  const TemporaryDirectory directory;
  const std::string plain_file = directory.write("a.json", text);
  const std::string zipped_file = directory.write("misleading.json", zipped);  // compression is told by content
  FilledPipe plain_pipe(text);
  FilledPipe noisy_pipe(gzip(text, nullptr, Z_NO_COMPRESSION));

  struct Kind {
    const char* name;
    Source source;
    bool is_compressed;
    bool knows_size;
  };
  std::vector<Kind> kinds;
  kinds.push_back({"memory", memory_source(text, "memory"), false, true});
  kinds.push_back({"gzip in memory", memory_source(zipped, "memory"), true, true});
  kinds.push_back({"file", open(plain_file), false, true});
  kinds.push_back({"gzip file", open(zipped_file), true, true});
  kinds.push_back({"pipe", descriptor_source(plain_pipe.take_reading_end(), "pipe").value(), false, false});
  kinds.push_back({"gzip through a pipe",
                   inflated_if_gzip(descriptor_source(noisy_pipe.take_reading_end(), "pipe").value()).value(), true,
                   false});

  for (const Kind& kind : kinds) {
    CAPTURE(kind.name);
    ByteSource& source = *kind.source;
    CHECK(source.is_compressed() == kind.is_compressed);
    if (kind.knows_size) CHECK(source.stored_size() == (kind.is_compressed ? zipped.size() : text.size()));

    CHECK(source.skip(1'000) == 1'000);
    CHECK(source.skip(0) == 0);
    CHECK(read_all(source).bytes == text.substr(1'000));
    CHECK(source.stored_position() == source.stored_size());
    CHECK(source.skip(1) == 0);

    REQUIRE(source.rewind());
    CHECK(source.stored_position() == 0);
    char untouched = 'u';
    CHECK(source.read(&untouched, 0) == 0);
    CHECK(untouched == 'u');
    CHECK(read_all(source, 100'000).bytes == text);

    REQUIRE(source.rewind());
    CHECK(source.skip(1'048'000) == 1'048'000);
    std::string across(1'000, '\0');  // where a pipe passes from memory to the temporary file
    std::size_t length = 0;
    while (length < across.size()) length += source.read(across.data() + length, across.size() - length).value();
    CHECK(across == text.substr(1'048'000, across.size()));
    CHECK(source.skip(kEverything) == text.size() - 1'049'000);
    CHECK(read_all(source).bytes.empty());
  }
}

TEST_CASE("a pipe can be rewound before it was read to its end") {
  const std::string text = sample_text(10'000);
  FilledPipe pipe(text);
  const Source source = descriptor_source(pipe.take_reading_end(), "pipe").value();
  CHECK(source->skip(10) == 10);
  REQUIRE(source->rewind());
  CHECK(read_all(*source).bytes == text);
}

TEST_CASE("a pipe that cannot be kept is still read once") {
  const TemporaryDirectory directory;
  const EnvironmentVariable no_room("TMPDIR", directory / "missing");
  const std::string text = sample_text(2'000'000);
  FilledPipe pipe(text);
  const Source source = descriptor_source(pipe.take_reading_end(), "standard input").value();
  CHECK(source->skip(1'000) == 1'000);
  REQUIRE(source->rewind());  // so far all of it is in memory
  const Outcome outcome = read_all(*source);
  CHECK(outcome.bytes == text);
  CHECK_FALSE(outcome.error);
  const Result<void> back = source->rewind();
  REQUIRE_FALSE(back);
  CHECK(back.error().what.find("cannot be kept in '" + directory / "missing") == 0);
  CHECK(back.error().where == "standard input");
  CHECK(back.error().next.find("TMPDIR") != std::string::npos);
}

TEST_CASE("what a pipe keeps leaves no file behind") {
  const TemporaryDirectory directory;
  const EnvironmentVariable chosen("TMPDIR", directory.path());
  FilledPipe pipe(sample_text(2'000'000));
  const Source source = descriptor_source(pipe.take_reading_end(), "pipe").value();
  CHECK(source->skip(kEverything) == 2'000'000);
  REQUIRE(source->rewind());
  CHECK(std::filesystem::is_empty(directory.path()));
  CHECK(source->skip(kEverything) == 2'000'000);
}

TEST_CASE("standard input") {
  const std::string text = sample_text(10'000);
  SUBCASE("a pipe") {
    FilledPipe pipe(gzip(text));
    const StandardInput replaced(pipe.take_reading_end());
    const Source source = open("-");
    CHECK(source->name() == "standard input");
    CHECK(source->is_compressed());
    CHECK(read_all(*source).bytes == text);
    REQUIRE(source->rewind());
    CHECK(read_all(*source).bytes == text);
  }
  SUBCASE("a file, from where it stands") {
    const TemporaryDirectory directory;
    const FileDescriptor file(::open(directory.write("a.json", text).c_str(), O_RDONLY | O_CLOEXEC));
    REQUIRE(::lseek(file.number(), 100, SEEK_SET) == 100);
    const StandardInput replaced(file);
    const Source source = open("-");
    CHECK(source->stored_size() == text.size() - 100);
    CHECK(read_all(*source).bytes == text.substr(100));
    CHECK(source->stored_position() == text.size() - 100);
    REQUIRE(source->rewind());
    CHECK(source->skip(50) == 50);
    CHECK(read_all(*source).bytes == text.substr(150));
  }
  SUBCASE("a directory") {
    const TemporaryDirectory directory;
    const FileDescriptor folder(::open(directory.path().c_str(), O_RDONLY | O_CLOEXEC));
    const StandardInput replaced(folder);
    const Result<Source> source = open_source("-");
    REQUIRE_FALSE(source);
    CHECK(source.error().where == "standard input");
    CHECK(source.error().what == "is a directory, not a trace file");
  }
}

TEST_CASE("short inputs are not gzip") {
  for (const std::string_view bytes : {"", "\x1f", "\x1f\x8c", "{}"}) {
    CAPTURE(bytes);
    const Source source = memory_source(bytes, "memory");
    CHECK_FALSE(source->is_compressed());
    CHECK(read_all(*source).bytes == bytes);
  }
  const TemporaryDirectory directory;
  CHECK(read_all(*open(directory.write("empty.json", ""))).bytes.empty());
}

TEST_CASE("a file that changes its length while it is read") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("a.json", sample_text(1'000));
  const Source source = open(path);
  CHECK(source->skip(400) == 400);
  SUBCASE("shorter is a fault, after what is there") {
    std::filesystem::resize_file(path, 500);
    const Outcome outcome = read_all(*source);
    CHECK(outcome.bytes == sample_text(1'000).substr(400, 100));
    CHECK(outcome.what() == "the file became shorter while it was read");
    REQUIRE(outcome.error.has_value());
    CHECK(outcome.error->offset == 500);
  }
  SUBCASE("longer is read and skipped to its new end") {
    std::filesystem::resize_file(path, 2'000);
    CHECK(source->skip(1'500) == 1'500);
    CHECK(read_all(*source).bytes.size() == 100);
  }
}

TEST_CASE("what cannot be opened says why and what to do") {
  const TemporaryDirectory directory;
  directory.write("host.trace.json.gz", "");
  directory.write("quite_another_thing", "");
  std::filesystem::create_symlink("gone", directory / "broken.xplane.pb");
  struct Case {
    std::string path;
    std::string what;
    std::string next;
  };
  const std::vector<Case> cases = {
      {directory / "host.trace.json", "no such file or directory",
       "did you mean '" + directory / "host.trace.json.gz" + "'?"},
      {directory / "hots.trace.json.gz", "no such file or directory",
       "did you mean '" + directory / "host.trace.json.gz" + "'?"},
      {directory / "nothing_like_it.pb", "no such file or directory", ""},
      {directory / "brokn.xplane.pb", "no such file or directory", ""},
      {directory / "missing/host.trace.json.gz", "no such file or directory",
       "there is no directory '" + directory / "missing" + "' either"},
      {directory.path(), "is a directory, not a trace file", "name a trace file in it"},
      {directory / "host.trace.json.gz/x", "cannot be read: Not a directory", ""},
      {"", "no such file or directory", ""},
  };
  for (const Case& example : cases) {
    CAPTURE(example.path);
    const Result<Source> source = open_source(example.path);
    REQUIRE_FALSE(source);
    CHECK(source.error().where == example.path);
    CHECK(source.error().what == example.what);
    CHECK(source.error().next == example.next);
  }
}

TEST_CASE("a file that may not be read") {
  const TemporaryDirectory directory;
  const std::string path = directory.write("secret.json", "{}");
  std::filesystem::permissions(path, std::filesystem::perms::none);
  constexpr uid_t kNobody = 65'534;
  const bool was_root = ::geteuid() == 0;  // root may read everything
  if (was_root && ::seteuid(kNobody) != 0) return;
  const Result<Source> source = open_source(path);
  if (was_root) REQUIRE(::seteuid(0) == 0);
  REQUIRE_FALSE(source);
  CHECK(source.error().what == "permission denied");
  CHECK(source.error().where == path);
  CHECK_FALSE(source.error().next.empty());
}

}  // namespace
}  // namespace doctor::io_test
