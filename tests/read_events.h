// Events of a document, as a reader of its format hands them on.
#pragma once

#include <doctest/doctest.h>

#include "collected_events.h"
#include "synthetic_trace.h"
#include "trace/event_reader.h"
#include "trace/format.h"

namespace doctor::event_reader_test {

struct Reading {
  CollectingSink sink;
  EventTotals totals;
};

/// Reads the events in the format that the content tells.
inline void read_into(Reading& reading, std::string_view bytes, WantedPlanes planes = WantedPlanes::all) {
  const auto source = memory_source(bytes, "test");
  const Result<const Format*> format = format_of(*source);
  REQUIRE(format.has_value());
  const Result<EventTotals> totals = (*format)->read_events(*source, reading.sink, planes, {});
  REQUIRE(totals.has_value());
  reading.totals = *totals;
}

}  // namespace doctor::event_reader_test
