#include "trace/json_window.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace doctor {

void ByteWindow::fill(std::size_t size) {
  if (is_last_ || end_ - begin_ >= size) return;
  if (begin_ + size + padding_ > buffer_.size()) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    if (size + padding_ > buffer_.size()) buffer_.resize(size + padding_);
  }
  while (end_ - begin_ < size && !is_last_) {
    const Result<std::size_t> count = source_.read(buffer_.data() + end_, begin_ + size - end_);
    if (!count) error_ = count.error();
    is_last_ = !count || *count == 0;
    if (count) {
      end_ += *count;
      bytes_read_ += *count;
    }
  }
}

std::string_view ByteWindow::cut(std::size_t size, std::vector<char>& buffer) {
  const std::string_view rest = text().substr(size);
  if (buffer.size() < std::max(buffer_.size(), rest.size() + padding_)) buffer.resize(buffer_.size());
  std::memcpy(buffer.data(), rest.data(), rest.size());
  buffer.swap(buffer_);
  const std::string_view taken(buffer.data() + begin_, size);
  begin_ = 0;
  end_ = rest.size();
  return taken;
}

void ByteWindow::put_back(std::string_view bytes) {
  std::vector<char> buffer(bytes.size() + text().size() + padding_);
  std::memcpy(buffer.data(), bytes.data(), bytes.size());
  std::memcpy(buffer.data() + bytes.size(), text().data(), text().size());
  end_ = bytes.size() + text().size();
  begin_ = 0;
  buffer_ = std::move(buffer);
}

}  // namespace doctor
