#pragma once

#include <vector>

#include "measure/measurements.h"
#include "report/selection.h"
#include "text/text_page.h"

namespace doctor {

/// What the device that ran most kernels did: those of a host do the same work.
void add_devices(const Measurements& measurements, TextPage& page);

/// The hosts beside each other, and which of them holds the others up.
void add_hosts(const HostComparison& comparison, const std::vector<PipelineView>& pipelines, TextPage& page);

/// That the report is about one of several hosts, because the user wanted it so.
void add_left_out(const Measurements& measurements, TextPage& page);

/// The pipelines after the first one, which the report is about, and perhaps why it is.
void add_other_pipelines(const std::vector<PipelineView>& pipelines, const HostComparison& comparison,
                         bool has_many_hosts, bool explains_rank, TextPage& page);

}  // namespace doctor
