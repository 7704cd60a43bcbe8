#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

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

/// A table that SQL can ask about: one entry of the one list that the tables, their description on the command line and
/// docs/query.md are made from.
struct QueryTable {
  std::string_view name;
  std::string_view meaning;  ///< what a row of it is
  std::vector<QueryColumn> columns;
};

/// All tables, in the order in which they are described.
std::span<const QueryTable> query_tables();

/// The table of that name; null if there is none.
const QueryTable* find_query_table(std::string_view name);

/// "text", "integer", "real", "boolean".
std::string_view to_word(QueryType type);

/// The name of the table that holds its rows: its own, or that below a view.
std::string stored_as(const QueryTable& table);

/// The statements that make all tables, those included that only the tool itself uses. Without the view `events` where
/// a table of that name takes its place, see add_events_table().
std::string sql_to_make_tables(bool with_events = true);

/// The statement that makes the view `timeline_events` for this connection: SQLite runs its functions on JSON in no
/// view that is stored in a database, since somebody else may have written it.
std::string_view sql_to_show_timelines();

// Events come by the million, so what they share is stored once: `events` is a view over these tables.

/// A thread of a file: line, process, thread, host, ..., and where its times count from.
inline constexpr std::string_view kEventLines = "event_lines";
/// Names, and for an iterator the ids of it and of its parent.
inline constexpr std::string_view kEventNames = "event_names";
/// An event: its line and name, start and duration in picoseconds, arguments.
inline constexpr std::string_view kEventRows = "event_rows";
/// A file that has events: its trace, where its times count from and when its first event begins.
inline constexpr std::string_view kEventClocks = "event_clocks";
/// A trace that was measured: where its times count from.
inline constexpr std::string_view kTraceClocks = "trace_clocks";

/// `query --schema`: all tables with their columns, for a terminal.
std::string tables_text(PageWidth width = {});

}  // namespace doctor
