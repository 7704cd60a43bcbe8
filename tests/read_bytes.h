// All bytes of a source, and texts to read.
#pragma once

#include <doctest/doctest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "gzipped.h"
#include "io/byte_source.h"
#include "io/gzip.h"
#include "io/stored_source.h"
#include "temporary_directory.h"

namespace doctor::io_test {

using Source = std::unique_ptr<ByteSource>;

/// Text that deflate can shorten, but not to nothing.
inline std::string sample_text(std::size_t length) {
  std::string text;
  std::uint32_t state = 1;
  while (text.size() < length) {
    state = state * 1'664'525u + 1'013'904'223u;
    text += "Iterator::" + std::to_string(state >> 20) + ";";
  }
  text.resize(length);
  return text;
}

struct Outcome {
  std::string bytes;
  std::optional<Error> error;

  std::string what() const { return error ? error->what : ""; }
};

/// Reads to the end or the fault, which must stay there when asked again.
inline Outcome read_all(ByteSource& source, std::size_t capacity = std::size_t{64} * 1024) {
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

struct InflaterChoice {
  const char* name;
  std::unique_ptr<Inflater> (*make)();
};

inline std::vector<InflaterChoice> inflaters() {
  std::vector<InflaterChoice> choices = {{"zlib", zlib_inflater}};
  if (isal_inflater()) choices.push_back({"ISA-L", isal_inflater});
  return choices;
}

inline Outcome inflate_all(const InflaterChoice& choice, const std::string& stored, std::size_t piece = 1'000'000,
                           std::size_t capacity = std::size_t{64} * 1024) {
  const Source source = gzip_source(std::make_unique<PiecewiseSource>(stored, piece), choice.make());
  Outcome first = read_all(*source, capacity);
  REQUIRE(source->rewind());
  const Outcome second = read_all(*source, capacity);
  REQUIRE(second.bytes == first.bytes);
  REQUIRE(second.what() == first.what());
  return first;
}

}  // namespace doctor::io_test
