#pragma once

#include "base/work.h"
#include "measure/measurements.h"
#include "profile/device_profile.h"
#include "profile/profile.h"
#include "trace/source_lines.h"
#include "trace/trace.h"
#include "trace/trace_needs.h"
#include "tree/iterator_forest.h"

namespace doctor {

/// The result of reading the trace's files a second time: every event with everything it carries. Empty if there was no
/// second reading.
struct SecondReading {
  DeviceProfile devices;
  std::optional<Profile> profile;
};

/// Measures one trace and the work of its devices. It never fails: an empty forest gives empty measurements. `lines`:
/// from the file beside the trace.
HostMeasurement measure(const Trace& trace, const IteratorForest& forest, const WorkOptions& work = {},
                        const TraceNeeds& needs = {}, SecondReading reading = {}, const SourceLines& lines = {});

/// Fills what the user wrote of all iterators: IteratorMeasurement::maker, shuffles_file_names, user_call, and
/// source_lines from the file beside the trace by the dataset's name, else from the name itself. Iterators that TF
/// inserts have no line. Neither has the root, which carries the name of the iterator below it.
void find_user_calls(const SourceLines& lines, HostMeasurement& host);

}  // namespace doctor
