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

/// Stores events: in the database's EventStore where it has one, else several with one statement, which takes half the
/// time of one by one.
class EventRows {
 public:
  EventRows(QueryDatabase& database, bool has_arguments);

  void add(std::int64_t line, std::int64_t name, Picoseconds start, Picoseconds duration,
           std::span<const EventArgument> arguments);

  bool has_failed() const { return fault_.has_value(); }

  /// Stores what is left. Errors: an event could not be stored.
  Result<void> finish();

 private:
  static constexpr std::size_t kRowsAtOnce = 32;
  static constexpr int kColumns = 5;

  struct Row {
    std::int64_t line = 0;
    std::int64_t name = 0;
    Picoseconds start = 0;
    Picoseconds duration = 0;
    std::string arguments;  ///< used again
  };

  void insert(const Statement& statement, std::size_t begin, std::size_t end);
  void flush();

  QueryDatabase& database_;
  bool has_arguments_;
  Statement insert_one_;
  Statement insert_many_;
  std::array<Row, kRowsAtOnce> rows_;
  std::size_t count_ = 0;
  std::optional<Error> fault_;  ///< the first; kept at once, for the database forgets it with its next statement
};

/// Which events to store with what.
struct EventRequest {
  bool rows = false;       ///< the events at all: else they are only counted
  bool names = false;      ///< and what is known by their names: most of the work
  bool tokens = false;     ///< and the ids of iterators and their parents
  bool arguments = false;  ///< and what they carry, which is half of the work
};

/// Takes the events of one file into the database.
class EventLoader final : public EventSink {
 public:
  /// `path` is what the tables call the file of the trace of this number.
  EventLoader(QueryDatabase& database, std::int64_t trace, std::string path, EventRequest request);

  void begin(const EventHeader& header) override;
  void take(const TraceEvent& event) override;
  ArgumentGroups groups_of(std::string_view argument) const override;
  bool is_done() const override { return storage_ && storage_->rows.has_failed(); }

  /// All events were taken. Errors: they could not be stored.
  Result<void> finish();

  /// The machine that was recorded, as far as the header says.
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
  std::optional<Storage> storage_;   ///< nothing where events are only counted
  std::vector<std::int64_t> lines_;  ///< indexed by EventLine::index: their numbers in the database; 0: not there yet
};

}  // namespace doctor
