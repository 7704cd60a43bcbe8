#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>
#include <zlib.h>

#include <cstdint>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "io/byte_source.h"
#include "io/gzip.h"
#include "io/stored_source.h"
#include "read_bytes.h"
#include "temporary_directory.h"

namespace doctor::io_test {
namespace {

constexpr std::uint64_t kEverything = std::numeric_limits<std::uint64_t>::max();

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

Source open(const std::string& path) {
  Result<Source> source = open_source(path);
  REQUIRE(source.has_value());
  return std::move(*source);
}

TEST_CASE("a small gzip that expands to much ends after 64 MiB") {
  const std::string piece = gzipped(std::string(std::size_t{16} * 1024 * 1024, '\0'));
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
  const std::string zipped = gzipped(text);
  const TemporaryDirectory directory;
  const std::string plain_file = directory.write("a.json", text);
  const std::string zipped_file = directory.write("misleading.json", zipped);  // compression is told by content
  FilledPipe plain_pipe(text);
  FilledPipe noisy_pipe(gzipped(text, nullptr, Z_NO_COMPRESSION));

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
    FilledPipe pipe(gzipped(text));
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
