#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "diagnose/answer.h"
#include "measure/measurements.h"
#include "text/text_page.h"

namespace doctor {

/// Rows about what to change: the action and its rule, code, and what it brings. At most `most` fixes; the others are
/// counted.
void add_fixes(const Answer& answer, const Diagnosis& diagnosis, std::size_t most, Detail detail, TextPage& page);

/// Why it is not known what the advice brings; nothing where nobody waits.
void add_missing_gain(const Advice& advice, TextPage& page);

/// What the device that ran most kernels did: those of a host do the same work.
void add_devices(const Measurements& measurements, TextPage& page);

/// The hosts beside each other, slowest first: on a screen in one row, else one each.
void add_hosts(const HostComparison& comparison, const std::vector<PipelineView>& pipelines, Detail detail,
               TextPage& page);

/// That the report is about one of several hosts, because the user wanted it so.
void add_left_out(const Measurements& measurements, TextPage& page);

/// The pipelines after the first one, which the report is about, and why it is.
void add_other_pipelines(const std::vector<PipelineView>& pipelines, const HostComparison& comparison,
                         bool has_many_hosts, TextPage& page);

}  // namespace doctor
