#pragma once

#include <string>
#include <vector>

#include "diagnose/diagnose.h"
#include "diagnose/tuning.h"
#include "report/selection.h"

namespace doctor {

// `show autotune`: what the stages of each pipeline were given and chose.

/// The iterators of one pipeline, or those of a host for which no call of a consumer was seen.
struct AutotuneGroup {
  const HostMeasurement& host;
  const PipelineMeasurement* pipeline;  ///< null for the latter
  std::string id;                       ///< of the pipeline; empty for the latter
  std::vector<IteratorId> members;      ///< in tree order
  AutotuneBudget budget;
  std::vector<AutotuneStage> stages;  ///< the members that can be tuned, in tree order
};

/// Pipelines worst first; those that only feed another are part of it. Then what belongs to no pipeline.
std::vector<AutotuneGroup> autotune_groups(const Measurements& measurements, const Diagnosis& diagnosis);

/// Why a stage's tuning binds or does not, for a person; empty where nothing speaks for it.
std::string describe_binding(const AutotuneGroup& group, const AutotuneStage& stage);

/// A table for each pipeline, and its budgets.
std::string render_autotune_text(const Measurements& measurements, const Diagnosis& diagnosis);

/// The same as `tfdata-doctor.autotune/1`, with the histories of all attributes.
std::string render_autotune_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// One line for each attribute of each iterator, with a header.
std::string render_autotune_csv(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
