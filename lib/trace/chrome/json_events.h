#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/work.h"
#include "io/byte_source.h"
#include "trace/chrome/json_batch.h"

namespace doctor {

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
