#pragma once

#include <cstdint>
#include <span>

#include "text/columns.h"

namespace doctor {

enum class QueryType : std::uint8_t {
  text,
  integer,
  real,
  boolean,  ///< 0 or 1
};

struct QueryColumn {
  std::string_view name;
  QueryType type = QueryType::text;
  bool is_nullable = false;
  std::string_view unit;  ///< "us", "bytes", "0..1"; empty for a plain value
  std::string_view meaning;
};

/// A table that SQL can query: an entry of the one list that the tables, their description on the command line and
/// docs/query.md are made from.
struct QueryTable {
  std::string_view name;
  std::string_view meaning;  ///< what one of its rows is
  std::vector<QueryColumn> columns;
};

/// All tables, in the order in which they are described.
std::span<const QueryTable> query_tables();

/// The table of that name; null if there is none.
const QueryTable* find_query_table(std::string_view name);

/// The word for a type: "text", "integer", "real", "boolean".
std::string_view to_word(QueryType type);

/// The name of the table that stores its rows: its own, or that below a view.
std::string stored_as(const QueryTable& table);

/// The statements that make all tables, including those that only the tool itself uses. Without `with_events` the view
/// `events` is left out, because a table of that name takes its place, see add_events_table().
std::string sql_to_make_tables(bool with_events = true);

/// The statement that makes the view `timeline_events` for this connection. It cannot be stored in a database, because
/// SQLite runs its JSON functions in no stored view, which somebody else may have written.
std::string_view sql_to_show_timelines();

// Events come by the million, so their common parts are stored once: `events` is a view over these tables.

/// Threads of files: line, process, thread, host, ..., and the origin of their times.
inline constexpr std::string_view kEventLines = "event_lines";
/// Names, and for an iterator its id and that of its parent.
inline constexpr std::string_view kEventNames = "event_names";
/// Events: their line and name, start and duration in picoseconds, arguments.
inline constexpr std::string_view kEventRows = "event_rows";
/// Files that have events: their trace, the origin of their times and the start of their first event.
inline constexpr std::string_view kEventClocks = "event_clocks";
/// Traces that were measured: the origin of their times.
inline constexpr std::string_view kTraceClocks = "trace_clocks";

/// The text of `query --schema`: all tables with their columns, for a terminal.
std::string tables_text(PageWidth width = {});

}  // namespace doctor
