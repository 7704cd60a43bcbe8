// Any bytes as a gzip file: both inflaters give the same, in pieces of any size, and again after a rewind.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fuzzing.h"
#include "io/byte_source.h"
#include "io/gzip_source.h"
#include "io/inflater.h"

namespace {

using namespace doctor;

constexpr std::size_t kMostBytes = std::size_t{4} << 20;

/// The stored bytes themselves: memory_source() would inflate them.
class StoredBytes final : public ByteSource {
 public:
  explicit StoredBytes(std::string_view bytes) : bytes_(bytes) {}
  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    const std::size_t count = bytes_.substr(at_).copy(buffer, capacity);
    at_ += count;
    return count;
  }
  Result<std::uint64_t> skip(std::uint64_t count) override {
    const std::uint64_t skipped = std::min<std::uint64_t>(count, bytes_.size() - at_);
    at_ += skipped;
    return skipped;
  }
  Result<void> rewind() override {
    at_ = 0;
    return {};
  }
  const std::string& name() const override { return name_; }
  std::uint64_t stored_size() const override { return bytes_.size(); }
  std::uint64_t stored_position() const override { return at_; }
  bool is_compressed() const override { return false; }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  std::string name_ = "fuzz";
};

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
  const auto zlib = gzip_source(std::make_unique<StoredBytes>(bytes), zlib_inflater());
  const Inflated whole = read_all(*zlib, 65536);
  if (whole.bytes.size() >= kMostBytes) return 0;
  expect(zlib->rewind().has_value(), "memory cannot be rewound");
  const Inflated pieces = read_all(*zlib, 7);
  expect(pieces.bytes == whole.bytes && pieces.fault == whole.fault, "pieces give other bytes than the whole");
  std::unique_ptr<Inflater> other = isal_inflater();
  if (other == nullptr) return 0;
  const auto isal = gzip_source(std::make_unique<StoredBytes>(bytes), std::move(other));
  const Inflated fast = read_all(*isal, 65536);
  expect(fast.fault.empty() == whole.fault.empty(), "one inflater takes what the other refuses");
  if (whole.fault.empty()) expect(fast.bytes == whole.bytes, "two inflaters give different bytes");
  return 0;
}
