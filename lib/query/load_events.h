#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/time.h"
#include "convert/event_writer.h"
#include "io/sqlite.h"
#include "query/event_names.h"
#include "query/query_database.h"
#include "query/row_inserter.h"
#include "trace/event_reader.h"

namespace doctor {

/// Stores events: in the database's EventStore if it has one, else several with one statement, which takes half the
/// time of storing each by itself.
class EventRows {
 public:
  EventRows(QueryDatabase& database, bool has_arguments);

  void add(std::int64_t line, std::int64_t name, Picoseconds start, Picoseconds duration,
           std::span<const EventArgument> arguments);

  bool has_failed() const { return fault_.has_value(); }

  /// Stores the rest. Errors: an event could not be stored.
  Result<void> finish();

 private:
  static constexpr std::size_t kRowsAtOnce = 32;
  static constexpr int kColumns = 5;

  struct Row {
    std::int64_t line = 0;
    std::int64_t name = 0;
    Picoseconds start = 0;
    Picoseconds duration = 0;
    std::string arguments;  ///< reused
  };

  void insert(const Statement& statement, std::size_t begin, std::size_t end);
  void flush();

  QueryDatabase& database_;
  bool has_arguments_;
  Statement insert_one_;
  Statement insert_many_;
  std::array<Row, kRowsAtOnce> rows_;
  std::size_t count_ = 0;
  /// the first one; kept at once, because the database forgets it with its next statement
  std::optional<Error> fault_;
};

/// The parts of events to store.
struct EventRequest {
  bool rows = false;       ///< store the events; else they are only counted
  bool names = false;      ///< store what follows from their names: most of the work
  bool tokens = false;     ///< store the ids of iterators and their parents
  bool arguments = false;  ///< store their arguments, which is half of the work
};

/// Loads the events of one file into the database.
class EventLoader final : public EventSink {
 public:
  /// `path` is the name of the file in the tables; the trace has this number.
  EventLoader(QueryDatabase& database, std::int64_t trace, std::string path, EventRequest request);

  void begin(const EventHeader& header) override;
  void take(const TraceEvent& event) override;
  ArgumentGroups groups_of(std::string_view argument) const override;
  bool is_done() const override { return storage_ && storage_->rows.has_failed(); }

  /// Called after the last event. Errors: events could not be stored.
  Result<void> finish();

  /// The machine that was recorded, if the header names it.
  std::string host() const { return file_.header.hosts.empty() ? std::string() : file_.header.hosts.front(); }

 private:
  struct Storage {
    EventNames names;
    EventRows rows;
    RowInserter lines;
    std::int64_t next_line;
  };

  std::int64_t line_of(const TraceEvent& event);

  QueryDatabase& database_;
  std::int64_t trace_;
  EventRequest request_;
  EventFile file_;
  std::int64_t number_;
  std::optional<Picoseconds> first_start_;
  std::optional<Storage> storage_;   ///< nullopt if events are only counted
  std::vector<std::int64_t> lines_;  ///< indexed by EventLine::index: their numbers in the database; 0: not stored yet
};

}  // namespace doctor
