#include <algorithm>
#include <cstring>
#include <utility>

#include "trace/chrome/json_batch.h"

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
    const std::size_t count = read(buffer_.data() + end_, begin_ + size - end_);
    is_last_ = count == 0;
    end_ += count;
  }
}

std::size_t ByteWindow::read(char* buffer, std::size_t capacity) {
  if (waiting_begin_ < waiting_.size()) {
    const std::size_t count = waiting_.copy(buffer, capacity, waiting_begin_);
    waiting_begin_ += count;
    return count;
  }
  if (error_) return 0;
  const Result<std::size_t> count = source_.read(buffer, capacity);
  if (!count) error_ = count.error();
  bytes_read_ += count.value_or(0);
  return count.value_or(0);
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

void ByteWindow::put_back(std::string bytes, std::size_t size) {
  std::vector<char> buffer(size + padding_);
  std::memcpy(buffer.data(), bytes.data(), size);
  buffer_ = std::move(buffer);
  begin_ = 0;
  end_ = size;
  waiting_ = std::move(bytes);
  waiting_begin_ = size;
  is_last_ = false;  // which the next fill() finds out
}

}  // namespace doctor
