#include "convert/event_columns.h"

namespace doctor {
namespace {

std::optional<std::uint64_t> token_of(const TraceEvent& event, std::string_view name) {
  const EventArgument* const argument = event.find(name);
  const std::optional<std::int64_t> token = argument == nullptr ? std::nullopt : argument->as_integer();
  return token ? std::optional(static_cast<std::uint64_t>(*token)) : std::nullopt;
}

}  // namespace

EventColumns thread_columns_of(const EventFile& file, const TraceEvent& event) {
  const EventPlane& plane = *event.line->plane;
  EventColumns columns;
  columns.file = file.path;
  columns.host = plane.host;
  if (plane.host.empty() && !file.header.hosts.empty()) columns.host = file.header.hosts.front();
  columns.process = plane.name;
  columns.thread = event.line->name;
  columns.pid = static_cast<std::int64_t>(plane.id);
  columns.tid = static_cast<std::int64_t>(event.line->id);
  return columns;
}

EventKind add_name_columns(const TraceEvent& event, EventColumns& columns) {
  columns.name = event.short_name.empty() ? event.name : event.short_name;
  columns.long_name = event.name;
  const EventKind kind = classify_event(event.name);
  if (kind == EventKind::op) columns.op_type = op_type_of(event.name);
  return kind;
}

void add_iterator_columns(const TraceEvent& event, EventColumns& columns) {
  columns.iterator_id = token_of(event, "id");
  columns.parent_id = token_of(event, "parent_id");
}

EventColumns columns_of(const EventFile& file, const TraceEvent& event) {
  EventColumns columns = thread_columns_of(file, event);
  const EventKind kind = add_name_columns(event, columns);
  columns.origin_ns = file.origin_ns;
  columns.start = event.start + file.shift;
  columns.duration = event.duration;
  if (kind == EventKind::iterator) add_iterator_columns(event, columns);
  return columns;
}

std::string& ThreadPrefix::begin(const EventLine& line) {
  line_ = &line;
  id_ = line.id;
  plane_id_ = line.plane->id;
  name_ = line.name;
  plane_name_ = line.plane->name;
  host_ = line.plane->host;
  spelled_.clear();
  return spelled_;
}

}  // namespace doctor
