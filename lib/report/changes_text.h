#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "measure/measurements.h"
#include "report/brevity.h"
#include "report/selection.h"
#include "text/text_page.h"

namespace doctor {

/// A change with what it is of. Refers to the diagnosis.
struct ShownChange {
  const Change& change;
  const Finding& finding;
  const Advice& advice;
};

/// The changes whose findings count, in their order. A suppressed finding advises nothing.
std::vector<ShownChange> changes_that_count(const Diagnosis& diagnosis);

/// The rates one after another: "12 steps/s now -> 14 with 1 -> 16 with 1 + 2 -> 1,135 if every element were ready".
/// Empty where no model reproduces the rate that was measured. With Detail::screen of the changes that are shown.
std::string describe_rates(const Diagnosis& diagnosis, const PipelineView& worst);

/// Why none of the changes says what it brings: the model, or that no change it knows gains enough. Empty where one
/// does.
std::string describe_missing_gains(const Diagnosis& diagnosis, const PipelineView& worst);

/// Rows about what to change: code, its rule and what it brings; where there is no change, the first sentences that
/// findings advise. Returns the rule of the first, empty if there is none.
std::string add_changes(const Measurements& measurements, const Diagnosis& diagnosis, Detail detail, Brevity brevity,
                        TextPage& page);

}  // namespace doctor
