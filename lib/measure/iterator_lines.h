#pragma once

#include "measure/measurements.h"
#include "trace/source_lines.h"

namespace doctor {

/// Fills in where the user wrote each iterator: from the file beside the trace by the dataset's name, else from the
/// name itself. Iterators that TF inserts have no line. Neither has the root, which carries the name of the iterator
/// below it.
void add_source_lines(const SourceLines& lines, HostMeasurement& host);

}  // namespace doctor
