#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "measure/step_table.h"
#include "report/report.h"
#include "text/data_table.h"
#include "text/json_page.h"

namespace doctor {

// `show overview`: the overview page of the guide (seed 001). Measurements need their profiles.

/// What the overview and the input page say of the steps of all hosts.
struct StepOverview {
  std::vector<StepTable> hosts;  ///< indexed as Measurements::hosts
  StepSummary summary;
  std::string note;  ///< how the steps were told
  /// Of the time of the steps where there are any, else of the verdict; nullopt where no GetNext was seen.
  std::optional<double> input_share;
  /// Why the verdict's share is another one, for a person; empty where the two are much the same.
  std::string verdict_note;
};

StepOverview step_overview(const Measurements& measurements, const Diagnosis& diagnosis);

/// What the job ran on.
struct RunEnvironment {
  std::vector<std::string> hosts;         ///< names; foreign text
  std::vector<std::string> devices;       ///< of all hosts
  std::string device_type;                ///< "GPU", "TPU", "CPU" without a device
  std::optional<std::int64_t> cpu_cores;  ///< that tf.data may use on a host; nullopt where no trace says it
};

RunEnvironment run_environment(const Measurements& measurements);

/// The ten ops with the most self time on the devices; on the hosts where no op ran on a device. Idle time is left out,
/// and so are iterators, whose work has its own page.
DataTable top_ops(const Measurements& measurements);

/// "on the devices" or "on the hosts", as the rows of top_ops() are.
std::string ops_side(const DataTable& ops);

/// What to do next: the first change of each finding, then the pages that tell more. Holds foreign text.
std::vector<std::string> next_steps_of(const Diagnosis& diagnosis);

/// `step_time` of the JSON pages.
OrderedJson step_time_json(const StepSummary& summary);

std::string render_overview_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style);

/// The same as `tfdata-doctor.overview/1`.
std::string render_overview_json(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
