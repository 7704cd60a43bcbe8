#include "trace/chrome_document.h"

#include <fmt/format.h>

namespace doctor {

void add_document_loss(const JsonDocument& document, const ByteSource& source, std::uint64_t event_count, Loss& loss) {
  if (document.malformed_events > 0) loss.add("events_malformed", document.malformed_events);
  if (document.oversized_events > 0) loss.add("events_too_large", document.oversized_events);
  if (document.read_error) {
    loss.add("input_unreadable_after");
    loss.notes.push_back(
        fmt::format("{}; {} events before that place were read", to_string(*document.read_error), event_count));
  } else if (document.is_cut_off) {
    loss.add("document_cut_off");
    loss.notes.push_back(fmt::format("{}: the list of events is cut off at byte {}; {} events were read", source.name(),
                                     document.bytes, event_count));
  }
}

std::optional<Error> reason_not_a_trace(const JsonDocument& document, const ByteSource& source,
                                        std::uint64_t event_count, std::uint64_t other_count) {
  if (event_count > 0) return std::nullopt;
  if (document.read_error) return document.read_error;
  if (!document.has_events) {
    return Error{"no list of trace events was found", source.name(), std::nullopt,
                 "a Chrome trace is a JSON array of events, or an object with the member traceEvents"};
  }
  const bool is_empty = other_count == 0 && document.malformed_events == 0 && document.oversized_events == 0;
  if (is_empty && !document.is_cut_off) return std::nullopt;
  return Error{is_empty ? "the document is cut off before the first event" : "none of the elements is a trace event",
               source.name(), document.bytes, "record the trace again, or check that this is the right file"};
}

}  // namespace doctor
