#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "convert/output_buffer.h"
#include "query/user_query.h"

namespace doctor {

enum class RowFormat : std::uint8_t {
  text,
  csv,
  json,  ///< `tfdata-doctor.query/1`: an object for each row; a column of a name that comes again gets a number
  markdown,
};

/// Runs the query and writes each row as it comes: memory does not grow with their number. Columns of text are as wide
/// as the first thousand rows need. Foreign text is escaped. Errors: what went wrong while the query ran; faults of the
/// output are told by OutputBuffer::finish().
Result<void> print_rows(UserQuery& query, RowFormat format, OutputBuffer& output);

}  // namespace doctor
