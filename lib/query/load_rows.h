#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "fleet/trace_row.h"
#include "query/query_database.h"

namespace doctor {

/// Adds a row to `traces`.
Result<void> load_trace_row(QueryDatabase& database, std::int64_t trace, const TraceRow& row);

/// Adds the rows of a file that `batch` wrote to `traces`, `files` and `findings`, all or none. A last line that was
/// not written to its end is passed over. Errors: a line that is not a row, the database cannot be changed.
Result<void> load_rows(QueryDatabase& database, const std::string& path);

}  // namespace doctor
