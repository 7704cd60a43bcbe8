#include "io/line_reader.h"

#include <algorithm>

namespace doctor {
namespace {

constexpr std::size_t kPieceSize = std::size_t{1} << 18;

}  // namespace

LineReader::LineReader(ByteSource& source, std::size_t longest) : source_(source), longest_(longest) {}

Result<std::optional<Line>> LineReader::next() {
  buffer_.erase(0, begin_ > kPieceSize ? begin_ : 0);
  begin_ = begin_ > kPieceSize ? 0 : begin_;
  bool is_too_long = false;
  std::size_t searched = begin_;
  std::size_t end = buffer_.find('\n', searched);
  while (end == std::string::npos && !has_ended_) {
    buffer_.erase(0, begin_);
    begin_ = 0;
    if (buffer_.size() > longest_) {
      is_too_long = true;
      buffer_.resize(longest_);
    }
    searched = buffer_.size();
    buffer_.resize(searched + kPieceSize);
    const Result<std::size_t> count = source_.read(buffer_.data() + searched, kPieceSize);
    if (!count) return Unexpected(count.error());
    buffer_.resize(searched + *count);
    has_ended_ = *count == 0;
    end = buffer_.find('\n', searched);
  }
  if (end == std::string::npos && begin_ == buffer_.size()) return std::optional<Line>();
  const bool has_end = end != std::string::npos;
  end = std::min(end, buffer_.size());
  Line line{std::string_view(buffer_).substr(begin_, std::min(end - begin_, longest_)), ++number_, has_end,
            is_too_long || end - begin_ > longest_};
  begin_ = std::min(end + 1, buffer_.size());
  return std::optional(line);
}

}  // namespace doctor
