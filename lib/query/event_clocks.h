#pragma once

#include "base/result.h"
#include "query/query_database.h"

namespace doctor {

/// Puts all files of the database, and what was measured of them, on one clock: times count from the first event of the
/// files that are less than 26 days apart. What comes out depends on the files alone, not on when each was added.
/// Errors: the database cannot be changed.
Result<void> set_event_clocks(QueryDatabase& database);

}  // namespace doctor
