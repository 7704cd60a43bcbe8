#include <fmt/format.h>

#include "report/calls.h"
#include "text/escape.h"
#include "text/json_page.h"

namespace doctor {
namespace {

OrderedJson segment_json(const ShownCall& call, const Segment& segment) {
  const HostMeasurement& host = call.view.host;
  const bool has_iterator = segment.iterator != kNoIterator;
  const IteratorMeasurement* const iterator = has_iterator ? &host.iterators[index_of(segment.iterator)] : nullptr;
  return {
      {"start_us", to_microseconds(segment.span.start - host.window_start)},
      {"duration_us", to_microseconds(segment.span.end - segment.span.start)},
      {"long_name", has_iterator ? OrderedJson(iterator->long_name) : OrderedJson(nullptr)},
      {"short_name", has_iterator ? OrderedJson(iterator->short_name) : OrderedJson(nullptr)},
      {"kind", to_word(segment.kind)},
      {"thread", host.threads[index_of(segment.lane)]},
  };
}

OrderedJson call_json(const ShownCall& call) {
  OrderedJson segments = OrderedJson::array();
  for (const Segment& segment : call.detail->segments) segments.push_back(segment_json(call, segment));
  OrderedJson json = {
      {"number", call.detail->number},
      {"start_us", to_microseconds(call.start())},
      {"latency_us", to_microseconds(call.detail->latency())},
      {"warmup", call.is_warmup()},
      {"thread", call.view.host.threads[index_of(call.detail->lane)]},
  };
  json["segments"] = std::move(segments);
  return json;
}

/// Microseconds with all digits: no picosecond is lost, whatever reads it.
std::string microseconds_of(Picoseconds time) {
  const Picoseconds fraction = time % kPicosecondsPerMicrosecond;
  return fmt::format("{}{}.{:06}", time < 0 ? "-" : "", std::abs(time / kPicosecondsPerMicrosecond),
                     std::abs(fraction));
}

}  // namespace

// The words of the schema: they never change.
std::string_view to_word(SegmentKind kind) {
  switch (kind) {
    case SegmentKind::self:
      return "self";
    case SegmentKind::function:
      return "function";
    case SegmentKind::handoff:
      return "handoff";
    case SegmentKind::unseen:
      return "unseen";
    case SegmentKind::outside:
      break;
  }
  return "outside";
}

std::string render_calls_json(const CallList& list) {
  OrderedJson pipelines = OrderedJson::array();
  for (const PipelineView& view : list.pipelines) {
    const bool has_root = view.pipeline.root != kNoIterator;
    OrderedJson calls = OrderedJson::array();
    for (const ShownCall& call : list.calls) {
      if (&call.view.pipeline == &view.pipeline) calls.push_back(call_json(call));
    }
    OrderedJson pipeline = {
        {"id", pipeline_id(view.judgement, view.pipeline)},
        {"host", host_name(view.host)},
        {"root",
         has_root ? OrderedJson(view.host.iterators[index_of(view.pipeline.root)].long_name) : OrderedJson(nullptr)},
        {"call_count", view.pipeline.calls.size()},
        {"slow_count", view.pipeline.slow_count},
    };
    pipeline["calls"] = std::move(calls);
    pipelines.push_back(std::move(pipeline));
  }
  OrderedJson page = {{"schema", "tfdata-doctor.calls/1"}, {"tool", tool_json()}};
  page["slow_threshold_us"] = to_microseconds(kSlowCall);
  page["pipelines"] = std::move(pipelines);
  return to_text(page);
}

std::string render_calls_csv(const CallList& list) {
  std::string text =
      "pipeline,host,call,call_start_us,latency_us,warmup,segment_start_us,duration_us,kind,long_name,thread\n";
  for (const ShownCall& call : list.calls) {
    const HostMeasurement& host = call.view.host;
    const std::string of_call = fmt::format(
        "{},{},{},{},{},{}", pipeline_id(call.view.judgement, call.view.pipeline), csv_field(host_name(host)),
        call.detail->number, microseconds_of(call.start()), microseconds_of(call.detail->latency()), call.is_warmup());
    for (const Segment& segment : call.detail->segments) {
      const bool has_iterator = segment.iterator != kNoIterator;
      text += fmt::format("{},{},{},{},{},{}\n", of_call, microseconds_of(segment.span.start - host.window_start),
                          microseconds_of(segment.span.end - segment.span.start), to_word(segment.kind),
                          has_iterator ? csv_field(host.iterators[index_of(segment.iterator)].long_name) : "",
                          csv_field(host.threads[index_of(segment.lane)]));
    }
  }
  return text;
}

}  // namespace doctor
