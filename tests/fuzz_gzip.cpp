// Any bytes as a gzip file: both inflaters give the same, in pieces of any size, and again after a rewind.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzzing.h"
#include "io/byte_source.h"
#include "io/gzip.h"
#include "io/stored_source.h"

namespace {

using namespace doctor;

constexpr std::size_t kMostBytes = std::size_t{4} << 20;

struct Inflated {
  std::string bytes;
  std::string fault;  ///< empty: none
};

Inflated read_all(ByteSource& source, std::size_t piece) {
  Inflated inflated;
  std::vector<char> buffer(piece);
  while (inflated.bytes.size() < kMostBytes) {
    const Result<std::size_t> count = source.read(buffer.data(), buffer.size());
    if (!count) {
      expect(!count.error().what.empty(), "an error without words");
      inflated.fault = count.error().what;
      break;
    }
    if (*count == 0) break;
    inflated.bytes.append(buffer.data(), *count);
  }
  return inflated;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto zlib = gzip_source(stored_bytes_source(bytes, "fuzz"), zlib_inflater());
  const Inflated whole = read_all(*zlib, 65536);
  if (whole.bytes.size() >= kMostBytes) return 0;
  expect(zlib->rewind().has_value(), "memory cannot be rewound");
  const Inflated pieces = read_all(*zlib, 7);
  expect(pieces.bytes == whole.bytes && pieces.fault == whole.fault, "pieces give other bytes than the whole");
  std::unique_ptr<Inflater> other = isal_inflater();
  if (other == nullptr) return 0;
  const auto isal = gzip_source(stored_bytes_source(bytes, "fuzz"), std::move(other));
  const Inflated fast = read_all(*isal, 65536);
  expect(fast.fault.empty() == whole.fault.empty(), "one inflater takes what the other refuses");
  if (whole.fault.empty()) expect(fast.bytes == whole.bytes, "two inflaters give different bytes");
  return 0;
}
