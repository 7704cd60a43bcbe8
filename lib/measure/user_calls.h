#pragma once

#include "measure/measurements.h"
#include "trace/source_lines.h"

namespace doctor {

/// Fills what the user wrote of all iterators: IteratorMeasurement::maker, shuffles_file_names, user_call, and
/// source_lines from the file beside the trace by the dataset's name, else from the name itself. Iterators that TF
/// inserts have no line. Neither has the root, which carries the name of the iterator below it.
void find_user_calls(const SourceLines& lines, HostMeasurement& host);

}  // namespace doctor
