#include "io/byte_source.h"

namespace doctor {
namespace {

class JoinedSource final : public ByteSource {
 public:
  JoinedSource(std::unique_ptr<ByteSource> first, std::unique_ptr<ByteSource> second, std::int64_t shift_ns)
      : first_(std::move(first)), second_(std::move(second)), shift_ns_(shift_ns) {}

  Result<std::size_t> read(char* buffer, std::size_t capacity) override {
    if (!is_in_second_) {
      Result<std::size_t> count = first_->read(buffer, capacity);
      if (!count || *count > 0 || capacity == 0) {
        if (count) first_size_ += *count;
        return count;
      }
      is_in_second_ = true;
    }
    return second_->read(buffer, capacity);
  }

  Result<std::uint64_t> skip(std::uint64_t count) override {
    std::uint64_t skipped = 0;
    if (!is_in_second_) {
      Result<std::uint64_t> in_first = first_->skip(count);
      if (!in_first) return in_first;
      skipped = *in_first;
      first_size_ += skipped;
      if (skipped == count) return skipped;
      is_in_second_ = true;
    }
    Result<std::uint64_t> in_second = second_->skip(count - skipped);
    if (!in_second) return in_second;
    return skipped + *in_second;
  }

  Result<void> rewind() override {
    if (Result<void> start = first_->rewind(); !start) return start;
    is_in_second_ = false;
    first_size_ = 0;
    return second_->rewind();
  }

  const std::string& name() const override { return first_->name(); }
  std::uint64_t stored_size() const override { return first_->stored_size() + second_->stored_size(); }
  std::uint64_t stored_position() const override {
    return first_->stored_position() + (is_in_second_ ? second_->stored_position() : 0);
  }
  bool is_compressed() const override { return first_->is_compressed() || second_->is_compressed(); }
  std::size_t part_count() const override { return first_->part_count() + second_->part_count(); }
  /// A byte is asked for after it was read, so the size of the first file is known where it matters.
  std::int64_t clock_shift_ns(std::uint64_t position) const override {
    return is_in_second_ && position >= first_size_ ? shift_ns_ : 0;
  }

 private:
  std::unique_ptr<ByteSource> first_;
  std::unique_ptr<ByteSource> second_;
  std::int64_t shift_ns_ = 0;
  bool is_in_second_ = false;
  std::uint64_t first_size_ = 0;  ///< read so far
};

class MovedSource final : public ByteSource {
 public:
  MovedSource(std::unique_ptr<ByteSource> source, std::int64_t shift_ns)
      : source_(std::move(source)), shift_ns_(shift_ns) {}

  Result<std::size_t> read(char* buffer, std::size_t capacity) override { return source_->read(buffer, capacity); }
  Result<std::uint64_t> skip(std::uint64_t count) override { return source_->skip(count); }
  Result<void> rewind() override { return source_->rewind(); }
  const std::string& name() const override { return source_->name(); }
  std::uint64_t stored_size() const override { return source_->stored_size(); }
  std::uint64_t stored_position() const override { return source_->stored_position(); }
  bool is_compressed() const override { return source_->is_compressed(); }
  std::int64_t clock_shift_ns(std::uint64_t /*position*/) const override { return shift_ns_; }

 private:
  std::unique_ptr<ByteSource> source_;
  std::int64_t shift_ns_ = 0;
};

}  // namespace

std::unique_ptr<ByteSource> join_sources(std::unique_ptr<ByteSource> first, std::unique_ptr<ByteSource> second,
                                         std::int64_t shift_ns) {
  return std::make_unique<JoinedSource>(std::move(first), std::move(second), shift_ns);
}

std::unique_ptr<ByteSource> moved_source(std::unique_ptr<ByteSource> source, std::int64_t shift_ns) {
  return std::make_unique<MovedSource>(std::move(source), shift_ns);
}

}  // namespace doctor
