#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "fleet/trace_row.h"
#include "query/query_database.h"

namespace doctor {

/// Adds a row to `traces`.
Result<void> load_trace_row(QueryDatabase& database, std::int64_t trace, const TraceRow& row);

/// What there is to say about a file of rows.
struct LoadedRows {
  std::optional<Error> first_not_row;  ///< how many lines are none, and why the first of them
};

/// Adds the rows of a file that `batch` wrote to `traces`, `files` and `findings`, all or none. A last line that was
/// not written to its end is passed over, and so is a line that is not a row, as `fleet` does. Errors: none is a row,
/// the database cannot be changed.
Result<LoadedRows> load_rows(QueryDatabase& database, const std::string& path);

}  // namespace doctor
