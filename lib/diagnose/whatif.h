#pragma once

#include "base/result.h"
#include "diagnose/diagnose.h"
#include "diagnose/throughput.h"
#include "model/prediction.h"

namespace doctor {

/// Some fixes together and what they are predicted to bring.
struct PredictedFixes {
  std::vector<Fix> fixes;  ///< never empty
  std::string rule;        ///< of the finding that advises the first of them; empty if none does
  Prediction prediction;
};

/// The shortest list of fixes after which the consumer hardly waits.
struct FixPlan {
  std::vector<PredictedFixes> steps;  ///< each is the fixes before it and one more; may be empty
  bool is_enough = false;             ///< whether the consumer then waits less than the limit of a healthy job
  /// Where they are not: how many cores would be, at the least; none if more cores do not help, or the
  /// trace does not say how many there are.
  std::optional<std::int64_t> enough_cores;
};

/// The rate by how many elements a map works on at once.
struct ParallelismCurve {
  IteratorId map = kNoIterator;        ///< the map with most to gain; kNoIterator: none gains, and there are no points
  std::int64_t now = 1;                ///< elements at once today
  std::vector<PredictedFixes> points;  ///< by Fix::parallelism of their one fix, ascending

  /// The first point after which more bring next to nothing; null without points.
  const PredictedFixes* knee() const;
};

/// What the fixes of one host's pipelines would bring: those of the consumer that waits longest.
struct HostPredictions {
  std::size_t host = 0;                   ///< index into Measurements::hosts
  std::optional<std::size_t> pipeline;    ///< index into Judgement::pipelines; none where several share one consumer
  std::optional<NoGainBecause> why_none;  ///< why nothing is predicted; none: something is
  double measured = 0;                    ///< steps a second, as traced
  double now = 0;                         ///< of the model: without the cost of tracing
  double fit = 0;                         ///< see PipelineModel::fit
  bool is_reliable = false;               ///< the model reproduces the trace
  /// Whether the model is near enough to the trace for gains of fixes; else only `asked` has one.
  bool tells_gains = true;
  bool is_distorted = false;  ///< recording took so much of each step that the trace shows another pipeline
  Bottleneck limited_by;
  Prediction without_input;              ///< the ceiling of all fixes
  std::vector<PredictedFixes> fixes;     ///< one fix each, by gain; those without gain at the end
  std::vector<PredictedFixes> together;  ///< several, by gain; better than each alone
  std::optional<FixPlan> plan;           ///< only if it was asked for
  ParallelismCurve curve;                ///< likewise
  std::optional<PredictedFixes> asked;   ///< likewise
};

/// What to predict.
struct WhatIfRequest {
  std::vector<std::string> fixes = {};  ///< as parse_fix() reads them; applied together
  bool wants_plan = false;
  bool wants_curve = false;
  std::optional<std::int64_t> cores = {};  ///< instead of those that the trace was recorded with
  double consumer_factor = 1;              ///< 2: the consumer computes twice as fast
  bool is_changed() const { return cores.has_value() || consumer_factor != 1; }
};

/// Threads that run functions on the machine that is asked about: one for each core unless the user set their number.
std::int64_t threads_of_pool(const CycleSample& sample, const WhatIfRequest& request);

/// Predicts for each host. Errors: a fix that cannot be read, or that no host's pipeline can be changed by.
Result<std::vector<HostPredictions>> predict_fixes(const Measurements& measurements, const Diagnosis& diagnosis,
                                                   const WhatIfRequest& request);

}  // namespace doctor
