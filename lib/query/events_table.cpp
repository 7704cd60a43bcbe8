#include <sqlite3.h>

#include <exception>

#include "query/event_store.h"

// The table `events` over an EventStore, as SQLite asks for one: https://www.sqlite.org/vtab.html. Its columns have the
// types that those of the view in tables.cpp have, so that a statement means the same of both.

// A namespace of its own: SQLite's words for what it calls are short.
namespace doctor::events_table {
namespace {

constexpr const char* kDeclaration =
    "CREATE TABLE events (file TEXT, host TEXT, process TEXT, thread TEXT, pid INTEGER, tid INTEGER, name TEXT,"
    " long_name TEXT, op_type TEXT, origin_ns TEXT, start_us, duration_us, iterator_id TEXT, parent_id TEXT, args)";

/// Columns in the order of the declaration; texts of lines come first.
enum Column {
  file,
  host,
  process,
  thread,
  pid,
  tid,
  name,
  long_name,
  op_type,
  origin_ns,
  start_us,
  duration_us,
  iterator_id,
  parent_id,
  args
};

/// Where EventStore has the texts of a column; -1: it is none of them.
int text_of_store(int column) {
  switch (column) {
    case file:
    case host:
    case process:
    case thread:
      return column;
    case name:
    case long_name:
    case op_type:
      return EventStore::kFirstOfName + column - name;
    case iterator_id:
    case parent_id:
      return EventStore::kFirstOfName + 3 + column - iterator_id;
    default:
      return -1;
  }
}

struct Table : sqlite3_vtab {
  sqlite3* database = nullptr;
  EventStore* store = nullptr;
};

struct Cursor : sqlite3_vtab_cursor {
  EventStore* store = nullptr;
  const std::vector<std::uint32_t>* order = nullptr;  ///< null: as they were added
  std::size_t position = 0;

  const EventStore::Row& row() const { return (*store)[order == nullptr ? position : (*order)[position]]; }
};

Table& table_of(sqlite3_vtab* table) {
  return *static_cast<Table*>(table);
}
Cursor& cursor_of(sqlite3_vtab_cursor* cursor) {
  return *static_cast<Cursor*>(cursor);
}

/// No exception may pass through SQLite.
template <typename Work>
int guarded(Work work) {
  try {
    return work();
  } catch (const std::exception&) {
    return SQLITE_NOMEM;
  }
}

int connect(sqlite3* database, void* store, int /*count*/, const char* const* /*arguments*/, sqlite3_vtab** table,
            char** /*error*/) {
  return guarded([&] {
    if (const int code = sqlite3_declare_vtab(database, kDeclaration); code != SQLITE_OK) return code;
    auto made = std::make_unique<Table>();
    made->database = database;
    made->store = static_cast<EventStore*>(store);
    *table = made.release();
    return SQLITE_OK;
  });
}

int disconnect(sqlite3_vtab* table) {
  delete &table_of(table);
  return SQLITE_OK;
}

/// Conditions are left to SQLite. Rows come in the order of a single text where that helps to group or to sort them, in
/// either direction: groups whose answers are sorted downwards are asked for downwards. Not where rows need only be
/// told apart, whose answers would come in another order than those of the tables.
int best_index(sqlite3_vtab* /*table*/, sqlite3_index_info* plan) {
  constexpr double kScan = 1e6;
  plan->estimatedCost = kScan;
  plan->estimatedRows = static_cast<sqlite3_int64>(kScan);
  constexpr int kToGroup = 1;
  if (plan->nOrderBy != 1 || sqlite3_vtab_distinct(plan) > kToGroup) return SQLITE_OK;
  const int text = text_of_store(plan->aOrderBy[0].iColumn);
  if (text < 0) return SQLITE_OK;
  plan->orderByConsumed = 1;
  plan->idxNum = 1 + text + (plan->aOrderBy[0].desc != 0 ? EventStore::kSortable : 0);
  return SQLITE_OK;
}

int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** cursor) {
  return guarded([&] {
    auto made = std::make_unique<Cursor>();
    made->store = table_of(table).store;
    *cursor = made.release();
    return SQLITE_OK;
  });
}

int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete &cursor_of(cursor);
  return SQLITE_OK;
}

/// The order that best_index() chose; null: as rows were added.
const std::vector<std::uint32_t>* order_of(int plan, EventStore& store) {
  if (plan == 0) return nullptr;
  const int text = (plan - 1) % EventStore::kSortable;
  const bool is_descending = plan - 1 >= EventStore::kSortable;
  return &store.order_by(text, is_descending ? EventStore::Direction::descending : EventStore::Direction::ascending);
}

int filter(sqlite3_vtab_cursor* at, int plan, const char* /*name*/, int /*count*/, sqlite3_value** /*values*/) {
  return guarded([&] {
    Cursor& cursor = cursor_of(at);
    if (!cursor.store->read_shared(table_of(cursor.pVtab).database)) return SQLITE_ERROR;
    cursor.position = 0;
    cursor.order = order_of(plan, *cursor.store);
    return SQLITE_OK;
  });
}

int next(sqlite3_vtab_cursor* cursor) {
  ++cursor_of(cursor).position;
  return SQLITE_OK;
}

int is_at_end(sqlite3_vtab_cursor* cursor) {
  return cursor_of(cursor).position >= cursor_of(cursor).store->size() ? 1 : 0;
}

void give_text(sqlite3_context* to, std::string_view text) {
  sqlite3_result_text64(to, text.data(), text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

/// As SQLite adds integers: what 64 bits do not hold is a real number.
double microseconds(Picoseconds time, Picoseconds shift) {
  constexpr auto kUnit = static_cast<double>(kPicosecondsPerMicrosecond);
  Picoseconds sum = 0;
  const bool is_too_large = __builtin_add_overflow(time, shift, &sum);
  return (is_too_large ? static_cast<double>(time) + static_cast<double>(shift) : static_cast<double>(sum)) / kUnit;
}

int give_column(sqlite3_vtab_cursor* at, sqlite3_context* to, int column) {
  const Cursor& cursor = cursor_of(at);
  const EventStore::Row& row = cursor.row();
  const EventStore::Line& line = cursor.store->line_of(row);
  switch (column) {
    case pid:
      sqlite3_result_int64(to, line.pid);
      return SQLITE_OK;
    case tid:
      sqlite3_result_int64(to, line.tid);
      return SQLITE_OK;
    case origin_ns:
      give_text(to, line.origin_ns);
      return SQLITE_OK;
    case start_us:
      sqlite3_result_double(to, microseconds(row.start, line.shift));
      return SQLITE_OK;
    case duration_us:
      sqlite3_result_double(to, microseconds(row.duration, 0));
      return SQLITE_OK;
    case args:
      give_text(to, "{}");
      return SQLITE_OK;
    default:
      break;
  }
  const int text = text_of_store(column);
  if (text < EventStore::kFirstOfName) {
    give_text(to, line.texts[static_cast<std::size_t>(text)]);
    return SQLITE_OK;
  }
  const auto& of_name = cursor.store->name_of(row).texts[static_cast<std::size_t>(text - EventStore::kFirstOfName)];
  of_name ? give_text(to, *of_name) : sqlite3_result_null(to);
  return SQLITE_OK;
}

int give_rowid(sqlite3_vtab_cursor* at, sqlite3_int64* rowid) {
  const Cursor& cursor = cursor_of(at);
  *rowid = 1 + static_cast<sqlite3_int64>(cursor.order == nullptr ? cursor.position : (*cursor.order)[cursor.position]);
  return SQLITE_OK;
}

/// Only reads. Without xCreate the table is there in every connection that has the module.
constexpr sqlite3_module kModule = [] {
  sqlite3_module module = {};
  module.xConnect = connect;
  module.xBestIndex = best_index;
  module.xDisconnect = disconnect;
  module.xOpen = open_cursor;
  module.xClose = close_cursor;
  module.xFilter = filter;
  module.xNext = next;
  module.xEof = is_at_end;
  module.xColumn = give_column;
  module.xRowid = give_rowid;
  return module;
}();

}  // namespace
}  // namespace doctor::events_table

namespace doctor {

bool add_events_table(sqlite3* database, EventStore& store) {
  return sqlite3_create_module_v2(database, "events", &events_table::kModule, &store, nullptr) == SQLITE_OK;
}

}  // namespace doctor
