#include "trace/json_window.h"

#include <algorithm>
#include <cstring>

namespace doctor {

void ByteWindow::fill(std::size_t size) {
  if (is_last_ || end_ - begin_ >= size) return;
  if (begin_ + size + padding_ > buffer_.size()) {
    std::memmove(buffer_.data() + 1, buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_ - 1;
    begin_ = 1;
    if (1 + size + padding_ > buffer_.size()) buffer_.resize(1 + size + padding_);
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

}  // namespace doctor
