#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "convert/event_writer.h"

namespace doctor {

/// The columns of an event in the formats that have one event a line, in this order. Keys and types are fixed: tables
/// of a warehouse are made of them.
struct EventColumns {
  std::string_view file;
  std::string_view host;     ///< empty if the trace does not say
  std::string_view process;  ///< "/host:CPU", "/device:GPU:0"
  std::string_view thread;
  std::int64_t pid = 0;  ///< as in the file
  std::int64_t tid = 0;
  std::string_view name;                     ///< the short one where there are two
  std::string_view long_name;                ///< the same as `name` where there is one only
  std::string_view op_type;                  ///< "MatMul" of the op "dense/MatMul:MatMul"; empty for other events
  std::int64_t origin_ns = 0;                ///< what start_us counts from, in nanoseconds since 1970 in practice
  Picoseconds start = 0;                     ///< written as start_us
  Picoseconds duration = 0;                  ///< written as duration_us
  std::optional<std::uint64_t> iterator_id;  ///< of a GetNext call of an iterator; written as text
  std::optional<std::uint64_t> parent_id;    ///< likewise
};

/// The names of the columns; the last one, `args`, is not in EventColumns.
inline constexpr std::string_view kEventColumnNames[] = {
    "file",    "host",      "process",  "thread",      "pid",         "tid",       "name", "long_name",
    "op_type", "origin_ns", "start_us", "duration_us", "iterator_id", "parent_id", "args"};

/// The columns of an event. Views live as long as the event and the file.
EventColumns columns_of(const EventFile& file, const TraceEvent& event);

}  // namespace doctor
