// Archives of traces as tar, Python and others write them, and what is wrong with some.

#include "io/tar_reader.h"

#include <doctest/doctest.h>
#include <fcntl.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "tar_archive.h"
#include "temporary_directory.h"

namespace doctor::tar_reader_test {
namespace {

struct ReadArchive {
  std::vector<std::pair<std::string, std::string>> files;  ///< names and contents
  std::vector<std::string> others;                         ///< names of what is neither file nor folder
  std::string fault;
};

ReadArchive read_archive(const std::string& bytes) {
  const TemporaryDirectory folder;
  TarReader archive(FileDescriptor(::open(folder.write("a", bytes).c_str(), O_RDONLY | O_CLOEXEC)), "a.tar");
  ReadArchive read;
  while (true) {
    const Result<std::optional<TarMember>> member = archive.next();
    if (!member) {
      read.fault = to_string(member.error());
      CHECK_FALSE(*archive.next());
    }
    if (!member || !*member) return read;
    if ((*member)->is_file) {
      std::string content((*member)->bytes / 2, '\0');  // what is left of it is passed over
      CHECK(archive.read(content.data(), content.size()) == content.size());
      read.files.emplace_back((*member)->name, content);
    } else if (!(*member)->is_folder) {
      read.others.push_back((*member)->name);
    }
  }
}

std::string record_of_pax(const std::string& text) {
  std::size_t length = text.size() + 3;  // with its own digits, a space and the end of the line
  while (std::to_string(length).size() + text.size() + 2 != length) ++length;
  return std::to_string(length) + " " + text + "\n";
}

const std::string kLongName = "logs/" + std::string(150, 'x') + "/h.xplane.pb";
const std::string kTwice = std::string(600, 'c') + std::string(600, 'd');

TEST_CASE("names come from headers of every kind") {
  TarHeader prefixed{.name = "h.xplane.pb", .bytes = kTwice};
  prefixed.prefix = "logs/run";
  TarHeader old = prefixed;
  old.magic = std::string("ustar  \0", 8);  // GNU's, whose prefix is something else
  TarHeader large{.name = "size", .bytes = kTwice};
  large.size = std::string("\x80\0\0\0\0\0\0\0\0\0\x04\xb0", 12);
  const std::string archive =
      member_of({.name = "logs/", .kind = '5'}) + member_of({.name = "a.pb", .bytes = kTwice}) + member_of(prefixed) +
      member_of(old) + member_of({.name = "././@LongLink", .bytes = kLongName + '\0', .kind = 'L'}) +
      member_of({.name = "cut", .bytes = kTwice}) +
      member_of({.name = "x", .bytes = record_of_pax("mtime=1.5") + record_of_pax("path=é=b"), .kind = 'x'}) +
      member_of({.name = "cut", .bytes = kTwice}) +
      member_of({.name = "g", .bytes = record_of_pax("a=b"), .kind = 'g'}) +
      member_of({.name = "next", .bytes = kTwice}) + member_of(large) + member_of({.name = "link", .kind = '2'}) +
      member_of({.name = std::string(100, 'n'), .kind = '\0'}) + kTarEnd;
  const ReadArchive read = read_archive(archive);
  CHECK(read.fault.empty());
  std::vector<std::string> names;
  for (const auto& [name, content] : read.files) {
    names.push_back(name);
    CHECK(content == (name.front() == 'n' && name.size() == 100 ? "" : std::string(600, 'c')));
  }
  CHECK(names == std::vector<std::string>{"a.pb", "logs/run/h.xplane.pb", "h.xplane.pb", kLongName, "é=b", "next",
                                          "size", std::string(100, 'n')});
  CHECK(read.others == std::vector<std::string>{"link"});
}

TEST_CASE("a size in a pax header goes before that of the header, for members of 8 GB and more") {
  TarHeader small{.name = "h", .bytes = kTwice};
  small.size = "00000000000";
  const ReadArchive read = read_archive(member_of({.name = "x", .bytes = record_of_pax("size=1200"), .kind = 'x'}) +
                                        member_of(small) + kTarEnd);
  REQUIRE(read.files.size() == 1);
  CHECK(read.files[0].second.size() == 600);
  CHECK(read.fault.empty());
}

TEST_CASE("archives that follow each other are one, and one without members has none") {
  const std::string one = member_of({.name = "a", .bytes = "12"}) + kTarEnd;
  CHECK(read_archive(one + one).files.size() == 2);
  CHECK(read_archive(kTarEnd).fault.empty());
}

TEST_CASE("what is wrong with an archive, where, and what to do") {
  const std::string first = member_of({.name = "a", .bytes = kTwice});
  const std::string remedy = "; write the archive anew; with -o FILE --resume what has a row is skipped";
  std::string damaged = first + member_of({.name = "b", .bytes = kTwice}) + kTarEnd;
  damaged[first.size() + 10] = 'x';
  TarHeader odd{.name = "b", .bytes = ""};
  odd.size = "00000000009";
  const TarHeader name{.name = "x", .bytes = std::string(20'000, 'n'), .kind = 'L'};
  struct Case {
    std::string bytes;
    std::size_t files;
    std::string fault;
  };
  const std::vector<Case> cases = {
      {"", 0, "is not a tar archive; name one of traces"},
      {"no archive", 0, "is not a tar archive; name one of traces"},
      {std::string(512, 'x'), 0, "is not a tar archive; name one of traces"},
      {"\x1f\x8b\x08", 0, "is compressed; hand over what is in it: gzip -dc FILE | tfdata-doctor batch --tar -"},
      {first, 1, "ends without the end of an archive: it was cut off at byte 2048" + remedy},
      {first + first.substr(0, 100), 1, "ends without the end of an archive: it was cut off at byte 2148" + remedy},
      {first.substr(0, 1500), 1, "ends in the middle of a member: it was cut off at byte 1500" + remedy},
      {damaged, 1, "is damaged: no member begins where one should at byte 2048" + remedy},
      {member_of(odd), 0, "is damaged: a member has no size at byte 512" + remedy},
      {member_of(name), 0, "is damaged: a name or a header of 20000 bytes at byte 512" + remedy},
      {member_of({.name = "x", .bytes = "30 path=a\n", .kind = 'x'}), 0,
       "is damaged: a pax header has no length at byte 1024" + remedy},
  };
  for (const Case& one : cases) {
    CAPTURE(one.fault);
    const ReadArchive read = read_archive(one.bytes);
    CHECK(read.files.size() == one.files);
    CHECK(read.fault == "a.tar: " + one.fault);
  }
}

}  // namespace
}  // namespace doctor::tar_reader_test
