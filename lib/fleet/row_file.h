#pragma once

#include "base/result.h"
#include "fleet/trace_row.h"
#include "io/byte_source.h"
#include "io/line_reader.h"

namespace doctor {

// Reading files of rows: lines of rows, in any order. Lines that are not rows are skipped and counted; blank lines are
// ignored.

/// The row of a line; nullopt for a blank one. Errors: the line is not a row.
std::optional<Result<TraceRow>> row_in(const Line& line);

/// Tests whether a row is among the first lines of the source, which is rewound. A trace in JSON has none.
bool holds_rows(ByteSource& source);

}  // namespace doctor
