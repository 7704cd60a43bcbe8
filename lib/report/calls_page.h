#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diagnose/diagnose.h"
#include "measure/call_details.h"
#include "report/selection.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// `show calls`: GetNext calls of the consumer, each with who held it when.

/// Which calls the user wants to see.
struct CallChoice {
  std::optional<std::size_t> number;    ///< this call of the pipeline, by its place in time from 1
  std::optional<std::string> pipeline;  ///< id of the pipeline; else all that feed no other, the worst for a number
  std::optional<std::size_t> top;       ///< how many of the slow calls; nullopt: all calls, slow or not

  /// What must be measured for it.
  CallDetailRequest request() const;
};

/// A call on the page.
struct ShownCall {
  PipelineView view;
  const CallDetail* detail;

  bool is_warmup() const { return detail->number <= view.pipeline.warmup_count; }
  /// Since the first event of the trace.
  Picoseconds start() const { return detail->span.start - view.host.window_start; }
};

/// The calls of a page with what they were chosen from. Refers to the measurements.
struct CallList {
  CallChoice choice;
  bool shows_tf_data = false;
  std::vector<PipelineView> pipelines;  ///< that were looked at, worst first
  std::vector<ShownCall> calls;         ///< longest first; of equals the worse pipeline, then the earlier call

  std::size_t slow_count() const;
};

/// Chooses from calls that were measured with `choice.request()`. Errors: no such pipeline, no such call in it.
Result<CallList> choose_calls(const Measurements& measurements, const Diagnosis& diagnosis, const CallChoice& choice);

/// The part of a call that one iterator held in one way on one thread.
struct CallRow {
  IteratorId iterator = kNoIterator;
  SegmentKind kind = SegmentKind::self;
  LaneId lane{};
  Picoseconds time = 0;
  std::vector<Interval> spans;  ///< in order of time
};

/// The segments of a call put together, in order of their first start. The rows sum to the latency exactly.
std::vector<CallRow> rows_of(const CallDetail& detail);

/// The word of the schema for who held a segment: "self", "function", …
std::string_view to_word(SegmentKind kind);

/// A block character as wide as a part of a column, 0 to 1. A part too small for one leaves a thin mark.
std::string_view block_of(double part);

/// Where in `window` the spans lie, as `width` block characters. A span too short for its column leaves a thin mark.
std::string bar_of(const std::vector<Interval>& spans, Interval window, std::size_t width);

/// The calls as charts for a terminal.
std::string render_calls_text(const CallList& list, const TextStyle& style = {});

/// The same as `tfdata-doctor.calls/1`.
OrderedJson calls_json(const CallList& list);

/// One line a segment, with a header.
std::string render_calls_csv(const CallList& list);

}  // namespace doctor
