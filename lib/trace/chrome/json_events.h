#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "trace/chrome/json_number.h"
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

/// Takes the events of one batch after another, each on the thread that parsed it. It keeps what it took until the next
/// batch only.
class JsonBatchTaker {
 public:
  JsonBatchTaker() = default;
  JsonBatchTaker(const JsonBatchTaker&) = delete;
  JsonBatchTaker& operator=(const JsonBatchTaker&) = delete;
  virtual ~JsonBatchTaker() = default;

  virtual void take(const JsonEventBatch& batch) = 0;
};

struct JsonReadOptions {
  std::size_t largest_event = std::size_t{64} << 20;  ///< a longer event is dropped and counted
  bool splits_arguments = true;                       ///< split `args` into its members; not needed to count events
  WorkOptions work;
  /// Makes the takers of batches that are parsed ahead; called on any thread. May be empty.
  std::function<std::unique_ptr<JsonBatchTaker>()> make_taker = {};
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

  /// The taker of the events that next() returned last; null if there is none, as with one thread.
  JsonBatchTaker* taker() const;

  const JsonDocument& document() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace doctor
