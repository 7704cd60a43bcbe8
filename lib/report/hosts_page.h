#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "measure/core_waits.h"
#include "text/data_table.h"
#include "text/json_page.h"

namespace doctor {

// `show hosts`: the hosts of a run side by side, and the waits of its cores in each step. Measurements need their
// profiles.

/// A row for each host, the one that waits most first.
DataTable hosts_table(const Measurements& measurements, const Diagnosis& diagnosis);

/// The steps of the run on its cores; none of windows of one host, which number other steps alike.
std::vector<StepOnCores> steps_in_common(const Measurements& measurements, const Diagnosis& diagnosis);

/// A row for each step: the least, the mean and the most over its cores of the time that it takes and of the wait for
/// input within it, as in the device-side details of the profiler's input-pipeline analyzer.
DataTable core_waits_table(const std::vector<StepOnCores>& steps);

/// What the cores of that table are; why it has no rows, if so.
std::string core_waits_note(const std::vector<StepOnCores>& steps);

/// Both tables as a page of JSON.
OrderedJson hosts_json(const DataTable& hosts, const DataTable& core_waits, const Diagnosis& diagnosis);

}  // namespace doctor
