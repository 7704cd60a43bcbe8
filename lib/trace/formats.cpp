#include "trace/format.h"
#include "trace/trace_builder.h"
#include "trace/trace_sink.h"

namespace doctor {
namespace {

constexpr std::array<Format, 3> kFormats = {{
    {"tf1_timeline", "TF1 timeline (timeline_*.json)", sniff_tf1_timeline, read_tf1_timeline, join_tf1_timelines},
    {"chrome_json", "Chrome trace JSON (*.trace.json)", sniff_chrome_json, read_chrome_json, nullptr},
    {"xspace", "XSpace (*.xplane.pb)", sniff_xspace, read_xspace, nullptr},
}};

/// The first bytes of the source, as many as `head` holds or all it has; the source is rewound.
Result<std::string_view> read_head(ByteSource& source, std::span<char> head) {
  std::size_t length = 0;
  std::optional<Error> error;
  while (length < head.size() && !error) {
    const Result<std::size_t> got = source.read(head.data() + length, head.size() - length);
    if (!got) error = got.error();
    if (!got || *got == 0) break;
    length += *got;
  }
  // A damaged input that still yields bytes is for the reader to report.
  if (error && length == 0) return Unexpected(*error);
  if (const Result<void> start = source.rewind(); !start) return Unexpected(start.error());
  return std::string_view(head.data(), length);
}

Result<Trace> read_joined(ByteSource& source, const Format& format, const WorkOptions& work) {
  const std::unique_ptr<TraceJoiner> joiner = format.join();
  if (const Result<void> added = joiner->add(source, work); !added) return Unexpected(added.error());
  return joiner->finish();
}

/// If a thread turns out not to be in order, the file is read again.
Result<Trace> read_with_sink(ByteSource& source, const Format& format, const WorkOptions& work,
                             const TraceNeeds& needs) {
  TraceSink sink(needs);
  while (true) {
    Result<EventTotals> totals = format.read_events(source, sink, WantedPlanes::hosts, work);
    if (!totals) return Unexpected(std::move(totals.error()));
    if (!sink.saw_disorder()) return sink.finish(*std::move(totals), source, work);
    sink.begin_again();
  }
}

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

Result<const Format*> format_of(ByteSource& source) {
  const auto buffer = std::make_unique_for_overwrite<char[]>(kSniffLength);  // not cleared
  const Result<std::string_view> head = read_head(source, {buffer.get(), kSniffLength});
  if (!head) return Unexpected(head.error());
  if (head->empty()) {
    constexpr std::string_view kTooLarge =
        "the profiler leaves it so where it would have more than 2 GB: record fewer steps, or with "
        "python_tracer_level=0; or it was stopped before it wrote: record the trace again";
    constexpr std::string_view kStopped = "record the trace again: the profiler was stopped before it wrote";
    const bool is_xspace = source.name().ends_with(".xplane.pb");
    return fail("the file is empty", source.name(), std::string(is_xspace ? kTooLarge : kStopped));
  }
  // Meant for python -m tfdata_doctor; and the first bytes of one may look like those of an XSpace.
  if (source.name().ends_with(".py")) {
    return fail("this is a Python script, not a trace", source.name(),
                "did you mean python -m tfdata_doctor? It runs a script and diagnoses what it records");
  }
  for (const Format& format : formats()) {
    if (format.sniff(*head)) return &format;
  }
  return fail("this is not a trace", source.name(),
              "expected XSpace (*.xplane.pb), Chrome trace JSON (*.trace.json) or a TF1 timeline, gzipped or not");
}

Result<Trace> read_trace(ByteSource& source, const Format& format, const WorkOptions& work, const TraceNeeds& needs) {
  Result<Trace> trace =
      format.join != nullptr ? read_joined(source, format, work) : read_with_sink(source, format, work, needs);
  if (!trace) return trace;
  tell_lives_apart(*trace);
  trace->files = {{source.name(), std::string(format.name), source.stored_size()}};
  return trace;
}

Result<Trace> read_trace(ByteSource& source, const WorkOptions& work, const TraceNeeds& needs) {
  const Result<const Format*> format = format_of(source);
  if (!format) return Unexpected(format.error());
  return read_trace(source, **format, work, needs);
}

JoinedTrace read_traces(std::span<ByteSource* const> parts, const WorkOptions& work) {
  JoinedTrace joined;
  const Format* common = nullptr;
  std::unique_ptr<TraceJoiner> joiner;
  for (ByteSource* const part : parts) {
    std::optional<Error>& fault = joined.faults.emplace_back();
    const Result<const Format*> format = format_of(*part);
    if (!format) {
      fault = format.error();
      continue;
    }
    if (joiner == nullptr && (*format)->join != nullptr) {
      common = *format;
      joiner = common->join();
    }
    if (*format != common) {
      fault = Error{"this is not a part of the trace", part->name(), std::nullopt, "name the files of one format"};
    } else if (const Result<void> added = joiner->add(*part, work); !added) {
      fault = added.error();
    }
  }
  if (joiner != nullptr) joined.trace = joiner->finish();
  return joined;
}

}  // namespace doctor
