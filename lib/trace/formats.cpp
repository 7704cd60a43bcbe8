#include <array>
#include <string>

#include "trace/format.h"

namespace doctor {
namespace {

constexpr std::array<Format, 3> kFormats = {{
    {"tf1_timeline", "TF1 timeline (timeline_*.json)", sniff_tf1_timeline, read_tf1_timeline},
    {"chrome_json", "Chrome trace JSON (*.trace.json)", sniff_chrome_json, read_chrome_json},
    {"xspace", "XSpace (*.xplane.pb)", sniff_xspace, read_xspace},
}};

/// The first kSniffLength bytes of the source, or all it has; the source is rewound.
Result<std::string> read_head(ByteSource& source) {
  std::string head(kSniffLength, '\0');
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
  head.resize(length);
  return head;
}

}  // namespace

std::span<const Format> formats() {
  return kFormats;
}

Result<Trace> read_trace(ByteSource& source, const WorkOptions& work) {
  const Result<std::string> head = read_head(source);
  if (!head) return Unexpected(head.error());
  if (head->empty()) {
    return fail("the file is empty", source.name(), "record the trace again: the profiler was stopped before it wrote");
  }
  for (const Format& format : formats()) {
    if (!format.sniff(*head)) continue;
    Result<Trace> trace = format.read(source, work);
    if (!trace) return trace;
    trace->path = source.name();
    trace->format = format.name;
    trace->bytes = source.stored_size();
    return trace;
  }
  return fail("this is not a trace", source.name(),
              "expected XSpace (*.xplane.pb), Chrome trace JSON (*.trace.json) or a TF1 timeline, gzipped or not");
}

}  // namespace doctor
