#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/time.h"
#include "io/sqlite.h"
#include "query/query_database.h"
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

}  // namespace doctor
