// A trace read in one format, whatever its content looks like, with the lives of its iterators not told apart.
#pragma once

#include <utility>

#include "trace/format.h"
#include "trace/trace_sink.h"

namespace doctor {

inline Result<Trace> read_one_format(decltype(Format::read_events) read_events, ByteSource& source,
                                     const WorkOptions& work = {}, bool with_history = false) {
  TraceSink sink({.attribute_history = with_history});
  while (true) {
    Result<EventTotals> totals = read_events(source, sink, WantedPlanes::hosts, work);
    if (!totals) return Unexpected(std::move(totals.error()));
    if (!sink.saw_disorder()) return sink.finish(*std::move(totals), source, work);
    sink.begin_again();
  }
}

}  // namespace doctor
