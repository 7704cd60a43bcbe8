#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "measure/step_table.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// `show overview`: the overview page of the guide of TensorFlow's profiler. Measurements need their profiles.

/// What the overview and the input page show of the steps of all hosts.
struct StepOverview {
  std::vector<StepTable> hosts;  ///< indexed as Measurements::hosts
  StepSummary summary;
  std::string note;  ///< how the steps were determined
  /// Of the time of the steps where there are any, else of the verdict; nullopt where no GetNext was seen.
  std::optional<double> input_share;
  /// Why the verdict's share differs, for a person; empty if the two are about the same.
  std::string verdict_note;
};

StepOverview step_overview(const Measurements& measurements, const Diagnosis& diagnosis);

/// `step_time` of the JSON pages.
OrderedJson step_time_json(const StepSummary& summary);

std::string render_overview_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style);

/// The same as `tfdata-doctor.overview/1`.
OrderedJson overview_json(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
