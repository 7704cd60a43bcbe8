#pragma once

#include <optional>

#include "base/result.h"
#include "fleet/trace_row.h"
#include "io/byte_source.h"
#include "io/line_reader.h"

namespace doctor {

// What a file of rows is, for all who read one: lines of rows, in any order; lines that are no rows are passed over and
// counted, blank ones are nothing.

/// The row of a line; nullopt for a blank one. Errors: the line is not a row.
std::optional<Result<TraceRow>> row_in(const Line& line);

/// Whether a row stands among the first lines of the source, which is rewound. A trace in JSON has none.
bool holds_rows(ByteSource& source);

}  // namespace doctor
