// Any bytes as a tar archive: members lie within it, and pieces of any size give the same.

#include <fcntl.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fuzzing.h"
#include "io/tar_reader.h"

namespace {

using namespace doctor;

struct ArchiveReading {
  std::vector<std::pair<std::string, std::string>> members;  ///< names and contents
  std::string fault;                                         ///< empty: none
};

ArchiveReading read_archive(std::string_view bytes, std::size_t piece) {
  const FuzzFile file(bytes);
  TarReader archive(FileDescriptor(::open(file.path().c_str(), O_RDONLY | O_CLOEXEC)), "fuzz");
  ArchiveReading reading;
  std::vector<char> buffer(piece);
  while (true) {
    const Result<std::optional<TarMember>> member = archive.next();
    if (!member) {
      expect(!member.error().what.empty(), "an error without words");
      reading.fault = to_string(member.error());
      expect(!*archive.next(), "a member after an error");
    }
    if (!member || !*member) return reading;
    reading.members.emplace_back((*member)->name, "");
    if (!(*member)->is_file) continue;
    std::string& content = reading.members.back().second;
    Result<std::size_t> count = archive.read(buffer.data(), buffer.size());
    for (; count && *count > 0; count = archive.read(buffer.data(), buffer.size())) {
      content.append(buffer.data(), *count);
    }
    if (count) expect(content.size() == (*member)->bytes, "a member is not whole, and there is no error");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const ArchiveReading whole = read_archive(bytes, 4096);
  std::size_t content = 0;
  for (const auto& [name, text] : whole.members) content += text.size();
  expect(content <= size, "members have more bytes than the archive");
  const ArchiveReading pieces = read_archive(bytes, 7);
  expect(pieces.fault == whole.fault && pieces.members.size() == whole.members.size(), "pieces give other members");
  if (whole.fault.empty()) expect(pieces.members == whole.members, "pieces give other bytes than the whole");
  return 0;
}
