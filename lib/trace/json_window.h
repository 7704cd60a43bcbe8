#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/byte_source.h"

namespace doctor {

/// A sliding piece of a source's bytes, with `padding` readable bytes after it.
class ByteWindow {
 public:
  ByteWindow(ByteSource& source, std::size_t padding) : source_(source), padding_(padding), buffer_(padding) {}

  /// Reads until the window has `size` bytes or the source has no more. Moves the text: views into it are lost.
  void fill(std::size_t size);

  /// Gives up the first `size` bytes. Views stay valid until the next fill().
  void consume(std::size_t size) { begin_ += size; }

  /// Gives up the first `size` bytes by giving the memory away that they lie in: they are returned, within `buffer`,
  /// whose own memory the window goes on with. They are followed by padding as the window's text is.
  std::string_view cut(std::size_t size, std::vector<char>& buffer);

  /// Makes `size` bytes of `bytes` the text; the rest of them comes before what the source still has. Together they
  /// are bytes that were cut or consumed, and the text that was here.
  void put_back(std::string bytes, std::size_t size);

  std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }

  /// Offset of text() in the document.
  std::uint64_t offset() const { return bytes_read_ - (waiting_.size() - waiting_begin_) - (end_ - begin_); }
  std::uint64_t bytes_read() const { return bytes_read_; }

  /// Whether text() is all that is left.
  bool is_last() const { return is_last_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  /// The next bytes, from those that were put back or from the source; none at the end.
  std::size_t read(char* buffer, std::size_t capacity);

  ByteSource& source_;
  std::size_t padding_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::string waiting_;  ///< bytes that were put back, from waiting_begin_ on
  std::size_t waiting_begin_ = 0;
  std::uint64_t bytes_read_ = 0;  ///< from the source
  bool is_last_ = false;
  std::optional<Error> error_;
};

}  // namespace doctor
