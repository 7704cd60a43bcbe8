#pragma once

#include <string>

#include "measure/measurements.h"
#include "text/columns.h"
#include "text/json_page.h"

namespace doctor {

// The part of `show memory` about the process that was recorded: the samples beside the trace.

/// Its memory, how it grows with the steps, what can have taken it, and what will be taken; empty where it was not
/// noted. A file that cannot be used is a line that says why.
std::string process_memory_text(const HostMeasurement& host, PageWidth width);

/// The same; null where it was not noted.
OrderedJson process_memory_json(const HostMeasurement& host);

}  // namespace doctor
