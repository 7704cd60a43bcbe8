#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/byte_source.h"
#include "trace/json_number.h"
#include "trace/chrome/json_text.h"

namespace doctor {

/// One element of `traceEvents`, decoded as far as every event needs it. Views live as long as its batch. Fields:
/// "Trace Event Format" (Google, document 1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU); times in microseconds.
struct JsonEvent {
  char phase = '\0';           ///< first character of `ph`; '\0' if the event has none
  std::uint64_t process = 0;   ///< `pid`: the number, or a hash where it is not a 64-bit integer
  std::uint64_t thread = 0;    ///< `tid`, likewise
  std::string_view name;       ///< without escapes
  std::string_view arguments;  ///< text of `args`, "{…}", not decoded; empty if there are none
  std::uint32_t first_member = 0;
  std::uint32_t member_count = 0;  ///< the members of `args` are members [first_member, + member_count) of the batch
  NumberText start_text = NumberText::missing;
  NumberText duration_text = NumberText::missing;
  MicrosecondTime start;     ///< `ts`
  MicrosecondTime duration;  ///< `dur`
};

/// The events of one window of a document.
struct JsonEventBatch {
  std::vector<JsonEvent> events;
  std::vector<JsonMember> members;    ///< of all events
  std::deque<std::string> unescaped;  ///< texts of names that had escapes

  std::span<const JsonMember> arguments_of(const JsonEvent& event) const {
    return std::span(members).subspan(event.first_member, event.member_count);
  }
  void clear() {
    events.clear();
    members.clear();
    unescaped.clear();
  }
};

/// A sliding piece of a source's bytes, followed by `padding` readable bytes.
class ByteWindow {
 public:
  ByteWindow(ByteSource& source, std::size_t padding) : source_(source), padding_(padding), buffer_(padding) {}

  /// Reads until the window has `size` bytes or the source ends. The text moves: views into it become invalid.
  void fill(std::size_t size);

  /// Drops the first `size` bytes. Views stay valid until the next fill().
  void consume(std::size_t size) { begin_ += size; }

  /// Takes the first `size` bytes together with their memory: they are returned, within `buffer`, whose old memory the
  /// window uses from then on. Padding follows them as it follows the window's text.
  std::string_view cut(std::size_t size, std::vector<char>& buffer);

  /// Makes the first `size` bytes of `bytes` the text, and puts the rest of them before what the source still has.
  /// `bytes` are those that were cut or consumed, followed by the current text.
  void put_back(std::string bytes, std::size_t size);

  std::string_view text() const { return {buffer_.data() + begin_, end_ - begin_}; }

  /// Offset of text() in the document.
  std::uint64_t offset() const { return bytes_read_ - (waiting_.size() - waiting_begin_) - (end_ - begin_); }
  std::uint64_t bytes_read() const { return bytes_read_; }

  /// True if text() is all that is left.
  bool is_last() const { return is_last_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  /// Reads the next bytes, first those that were put back, then the source's; 0 at the end.
  std::size_t read(char* buffer, std::size_t capacity);

  ByteSource& source_;
  std::size_t padding_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::string waiting_;  ///< bytes that were put back; those before waiting_begin_ are used up
  std::size_t waiting_begin_ = 0;
  std::uint64_t bytes_read_ = 0;  ///< bytes read from the source
  bool is_last_ = false;
  std::optional<Error> error_;
};

/// How much of a text was understood as a list of events.
struct ParsedBatch {
  std::size_t consumed = 0;      ///< bytes up to the end of the last valid event; the text's size if all is well
  bool is_end_of_array = false;  ///< the `]` of the array lies within the text; `consumed` ends after it
  bool has_structure = false;    ///< false: not even the strings and brackets of the text could be found
};

/// Parses pieces of an event array. It reuses its buffers from piece to piece; each thread needs one.
class JsonBatchParser {
 public:
  JsonBatchParser();
  ~JsonBatchParser();

  /// Bytes that must be readable after the text; their values do not matter.
  static const std::size_t kPadding;

  /// Appends the events of `text` ("{…},{…}") to `batch`, whose views refer to the text. `splits_arguments` as in
  /// JsonReadOptions.
  ParsedBatch parse(std::string_view text, bool splits_arguments, JsonEventBatch& batch);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doctor
