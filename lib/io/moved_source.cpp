#include "io/moved_source.h"

#include <string>
#include <utility>

namespace doctor {
namespace {

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

std::unique_ptr<ByteSource> moved_source(std::unique_ptr<ByteSource> source, std::int64_t shift_ns) {
  return std::make_unique<MovedSource>(std::move(source), shift_ns);
}

}  // namespace doctor
