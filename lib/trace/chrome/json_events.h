#pragma once

#include <deque>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "trace/chrome/json_text.h"
#include "trace/json_number.h"

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

struct JsonReadOptions {
  std::size_t largest_event = std::size_t{64} << 20;  ///< a longer event is dropped and counted
  bool splits_arguments = true;                       ///< split `args` into its members; not needed to count events
  WorkOptions work;
};

/// What was found around the events. Complete once JsonEventReader::next() has returned null.
struct JsonDocument {
  bool has_events = false;             ///< an array of events was found, even if it is empty
  bool is_cut_off = false;             ///< the array of events is not closed
  std::uint64_t bytes = 0;             ///< read from the source, uncompressed
  std::uint64_t malformed_events = 0;  ///< dropped: not JSON, or not an object
  std::uint64_t oversized_events = 0;  ///< dropped: longer than JsonReadOptions::largest_event
  std::optional<Error> read_error;     ///< why the source ended early
};

/// Streams the events of a Chrome trace: `{…, "traceEvents": […], …}` with the array anywhere among the top-level
/// members, or a bare array; with or without a byte-order mark; whole or cut off anywhere. It holds one window of the
/// text at a time. A malformed event is dropped and counted, and its neighbours survive. `{}`, which TF writes as the
/// last element, is skipped silently.
///
/// A window ends where an event seems to end, and is parsed completely before any of its events is handed on. If the
/// guess was wrong (`},{` within an event) or an event is malformed, the events before that place count, and the next
/// ones are separated one by one with measure_json_value().
///
/// With several threads the windows are cut by guess and parsed ahead. After the first wrong guess one thread goes on
/// alone, so that the events and their order do not depend on the number of threads.
class JsonEventReader {
 public:
  explicit JsonEventReader(ByteSource& source, const JsonReadOptions& options = {});
  ~JsonEventReader();
  JsonEventReader(const JsonEventReader&) = delete;
  JsonEventReader& operator=(const JsonEventReader&) = delete;

  /// The next events in document order, at least one; null at the end. Valid until the next call.
  const JsonEventBatch* next();

  const JsonDocument& document() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doctor
