#pragma once

#include "measure/measurements.h"
#include "trace/source_lines.h"

namespace doctor {

/// Fills in where the user wrote each iterator: as the file beside the trace says it of the dataset's name, else as the
/// name says it itself. What TF put in has no line, nor has the root, which carries the name of what stands below it.
void add_source_lines(const SourceLines& lines, HostMeasurement& host);

}  // namespace doctor
