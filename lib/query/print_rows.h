#pragma once

#include <cstddef>
#include <limits>

#include "base/result.h"
#include "convert/output_buffer.h"
#include "query/user_query.h"
#include "text/table.h"

namespace doctor {

/// Runs the query and writes each row as it comes: memory does not grow with their number. Text columns are as wide as
/// the first thousand rows need. Foreign text is escaped. Rows beyond `most_rows` are left out silently. Errors: of the
/// running query; OutputBuffer::finish() returns those of the output.
Result<void> print_rows(UserQuery& query, TableFormat format, PageWidth width, OutputBuffer& output,
                        std::size_t most_rows = std::numeric_limits<std::size_t>::max());

}  // namespace doctor
