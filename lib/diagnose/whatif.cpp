#include "diagnose/whatif.h"

#include "diagnose/fix_advice.h"
#include "model/candidates.h"

namespace doctor {
namespace {

/// The consumer of a healthy job waits less.
constexpr double kHealthyShare = 0.05;

class HostPredictor {
 public:
  HostPredictor(Throughput throughput, const WhatIfRequest& request)
      : throughput_(std::move(throughput)), model_(throughput_.any_model()), request_(request) {
    machine_.cores = request_.cores;
    machine_.consumer_factor = request_.consumer_factor;
    if (request_.cores) machine_.pool_threads = threads_of_pool(model_.sample(), request_);
    if (model_.exists() && request.is_changed()) now_ = predict(model_, {}, machine_, kQuickReplay);
  }

  bool exists() const { return model_.exists(); }
  void fill(const HostMeasurement& host, const Diagnosis& diagnosis, HostPredictions& result);
  Result<PredictedFixes> asked();

 private:
  Prediction predict_on_machine(std::span<const Fix> fixes) {
    if (!request_.is_changed()) return throughput_.prediction_of(fixes);
    return predict(model_, fixes, edit_for(fixes, model_, machine_), kQuickReplay);
  }
  Prediction predict_ceiling() {
    if (!request_.is_changed()) return throughput_.without_input();
    Edit edit = machine_;
    edit.without_input = true;
    Prediction ceiling = predict(model_, {}, edit, kQuickReplay);
    ceiling.then_limited_by = {};
    return ceiling;
  }
  double rate_now() const { return now_ ? now_->estimate : model_.now.steps_per_s; }
  double share_now() const { return now_ ? now_->input_share : model_.now.input_share; }
  PredictedFixes with(const PredictedFixes& before, const Fix& fix) {
    PredictedFixes both = before;
    both.fixes.push_back(fix);
    both.prediction = predict_on_machine(both.fixes);
    return both;
  }
  std::vector<PredictedFixes> add_best_fixes(const std::vector<PredictedFixes>& candidates,
                                             const Prediction& without_input);
  ParallelismCurve curve_of(std::span<const PredictedFixes> fixes);
  FixPlan plan_from(std::vector<PredictedFixes> steps);
  std::optional<std::int64_t> cores_that_are_enough(std::span<const Fix> fixes);

  Throughput throughput_;
  const PipelineModel& model_;
  const WhatIfRequest& request_;
  Edit machine_;
  std::optional<Prediction> now_;  ///< on other cores, or with another consumer
};

/// How far a fix is from what helps for certain: 0 for a gain without a condition, then one with, then a cache that may
/// never be complete, then no gain.
int doubts_about(const Prediction& prediction, double now) {
  if (prediction.estimate < kLeastGain * now) return 3;
  if (prediction.condition == Condition::none) return 0;
  return prediction.cache && !prediction.cache->saw_epoch_end ? 2 : 1;
}

/// What no condition stands before comes first: a list that begins with "if it fits in memory" helps few.
void sort_by_gain(std::vector<PredictedFixes>& fixes, double now) {
  std::stable_sort(fixes.begin(), fixes.end(), [&](const PredictedFixes& a, const PredictedFixes& b) {
    const int doubts_a = doubts_about(a.prediction, now);
    const int doubts_b = doubts_about(b.prediction, now);
    return doubts_a != doubts_b ? doubts_a < doubts_b : a.prediction.estimate > b.prediction.estimate;
  });
}

/// The place of a fix in the one ranking of the report; after all others if it is not there.
std::size_t place_in_report(const Diagnosis& diagnosis, std::size_t host, const Fix& fix) {
  const auto has_fix = [&](const Change& change) {
    const Finding& finding = diagnosis.findings[change.finding];
    const std::vector<Fix>& fixes = finding.advice[change.advice].fixes;
    return finding.host == host && std::any_of(fixes.begin(), fixes.end(), [&](const Fix& other) {
             return other.kind == fix.kind && other.iterator == fix.iterator;
           });
  };
  const auto found = std::find_if(diagnosis.changes.begin(), diagnosis.changes.end(), has_fix);
  return static_cast<std::size_t>(found - diagnosis.changes.begin());
}

/// One ranking: what the report names first comes first here, within those that depend on as much.
void order_as_report(const Diagnosis& diagnosis, std::size_t host, double now, std::vector<PredictedFixes>& fixes) {
  const auto key = [&](const PredictedFixes& fix) {
    return std::pair(doubts_about(fix.prediction, now), place_in_report(diagnosis, host, fix.fixes.front()));
  };
  std::stable_sort(fixes.begin(), fixes.end(),
                   [&](const PredictedFixes& a, const PredictedFixes& b) { return key(a) < key(b); });
}

bool changes_same(const Fix& a, const Fix& b) {
  if (a.kind == b.kind) return a.iterator == b.iterator;
  const auto is_of_map = [](FixKind kind) { return kind == FixKind::parallel_map || kind == FixKind::vectorize; };
  return a.iterator == b.iterator && is_of_map(a.kind) && is_of_map(b.kind);
}

/// Adds the fix with the largest gain until none gains anything; of those that gain about the same, the first one.
std::vector<PredictedFixes> HostPredictor::add_best_fixes(const std::vector<PredictedFixes>& candidates,
                                                          const Prediction& without_input) {
  constexpr std::size_t kMostSteps = 4;  // each rests on the predictions before it, whose errors add up
  constexpr double kAboutSame = 1.1;     // rates of one program differ by as much from run to run
  std::vector<PredictedFixes> steps;
  PredictedFixes current;
  double rate = rate_now();
  while (steps.size() < kMostSteps) {
    std::optional<PredictedFixes> best;
    for (const PredictedFixes& candidate : candidates) {
      const Fix& fix = candidate.fixes.front();
      const auto is_same = [&](const Fix& other) { return changes_same(other, fix); };
      if (std::any_of(current.fixes.begin(), current.fixes.end(), is_same)) continue;
      PredictedFixes next = with(current, fix);
      if (!best || next.prediction.estimate > kAboutSame * best->prediction.estimate) best = std::move(next);
    }
    if (!best || best->prediction.estimate < kLeastGain * rate) break;
    rate = best->prediction.estimate;
    current = *best;
    steps.push_back(std::move(*best));
  }
  for (PredictedFixes& step : steps) {
    // Of one fix the prediction is that of its own row.
    if (step.fixes.size() > 1) limit_to(step.prediction, without_input);
  }
  return steps;
}

/// More cores than these would not make it faster, or no number of them is enough.
std::optional<std::int64_t> HostPredictor::cores_that_are_enough(std::span<const Fix> fixes) {
  constexpr std::int64_t kMostCores = 256;  // chosen: who needs more is told that no number is enough
  if (!request_.cores && !model_.sample().knows_cores) return std::nullopt;
  const std::int64_t have = request_.cores.value_or(model_.sample().cores);
  for (std::int64_t cores = 2 * have; cores <= kMostCores; cores *= 2) {
    Edit edit = machine_;
    // The pool has a thread for each core unless the user set its size.
    if (model_.sample().pool_threads <= have) edit.pool_threads = cores;
    edit.cores = cores;
    if (replay_after(model_, edit_for(fixes, model_, edit), kQuickReplay).input_share < kHealthyShare) return cores;
  }
  return std::nullopt;
}

/// As many of these steps as it takes.
FixPlan HostPredictor::plan_from(std::vector<PredictedFixes> steps) {
  FixPlan plan;
  if (share_now() < kHealthyShare) {
    plan.is_enough = true;
    return plan;
  }
  const auto enough = std::find_if(steps.begin(), steps.end(), [](const PredictedFixes& step) {
    return step.prediction.input_share < kHealthyShare;
  });
  plan.is_enough = enough != steps.end();
  if (plan.is_enough) steps.erase(enough + 1, steps.end());
  plan.steps = std::move(steps);
  if (!plan.is_enough) {
    plan.enough_cores = cores_that_are_enough(plan.steps.empty() ? std::span<const Fix>() : plan.steps.back().fixes);
  }
  return plan;
}

/// Of the map whose fix gains the most: each rate is one replay.
ParallelismCurve HostPredictor::curve_of(std::span<const PredictedFixes> fixes) {
  constexpr std::array<std::int64_t, 11> kAtOnce = {1, 2, 3, 4, 6, 8, 10, 12, 16, 24, 32};
  ParallelismCurve curve;
  const auto best = std::find_if(fixes.begin(), fixes.end(), [](const PredictedFixes& fix) {
    return fix.fixes.front().kind == FixKind::parallel_map;
  });
  if (best == fixes.end() || best->prediction.estimate < kLeastGain * rate_now()) return curve;
  curve.map = best->fixes.front().iterator;
  const IteratorMeasurement& map = model_.host->iterators[curve.map];
  curve.now = map.is_async ? std::max<std::int64_t>(map.number("parallelism").value_or(1), 1) : 1;
  for (const std::int64_t at_once : kAtOnce) {
    if (at_once < curve.now) continue;  // a fix takes nothing away
    const Fix fix{FixKind::parallel_map, curve.map, at_once, std::nullopt};
    curve.points.push_back({{fix}, {}, predict_on_machine(std::span(&fix, 1))});
  }
  return curve;
}

/// What a report says where no model tells gains.
void tell_recorded_rates(const Diagnosis& diagnosis, HostPredictions& result) {
  if (!result.pipeline) return;
  const PipelineJudgement& judged = diagnosis.judgement.pipelines[*result.pipeline];
  if (!judged.has_recorded_rates) return;
  result.now = judged.has_clocked_rate ? judged.steps_per_s : result.measured;
  Prediction& ceiling = result.without_input;
  ceiling.estimate = ceiling.low = ceiling.high = judged.steps_per_s_without_input;
}

void HostPredictor::fill(const HostMeasurement& host, const Diagnosis& diagnosis, HostPredictions& result) {
  result.measured = model_.measured;
  result.now = rate_now();
  result.fit = model_.fit;
  result.is_reliable = model_.is_reliable();
  result.tells_gains = model_.tells_gains();
  result.is_distorted = tracing_slowdown(model_) > kDistortion;
  result.limited_by = now_ ? now_->then_limited_by : model_.now.limited_by;
  result.without_input = predict_ceiling();
  if (!result.tells_gains) return tell_recorded_rates(diagnosis, result);
  for (const Fix& fix : candidate_fixes(model_, machine_.pool_threads)) {
    // What makes the data is the user's; what Keras does with it is not.
    if (fix.kind != FixKind::files && has_no_dataset(host, fix)) continue;
    result.fixes.push_back({{fix}, {}, predict_on_machine(std::span(&fix, 1))});
  }
  sort_by_gain(result.fixes, rate_now());
  if (!request_.is_changed()) order_as_report(diagnosis, result.host, rate_now(), result.fixes);
  std::vector<PredictedFixes> useful;
  for (const PredictedFixes& fix : result.fixes) {
    if (fix.prediction.condition == Condition::none) useful.push_back(fix);
  }
  std::vector<PredictedFixes> steps = add_best_fixes(useful, result.without_input);
  for (const PredictedFixes& step : steps) {
    if (step.fixes.size() > 1) result.together.push_back(step);
  }
  sort_by_gain(result.together, rate_now());
  if (request_.wants_curve) result.curve = curve_of(result.fixes);
  if (!request_.wants_plan) return;
  result.plan = plan_from(std::move(steps));
  if (result.plan->is_enough) return;
  // Where what is sure is not enough, what depends on a condition may be.
  FixPlan with_conditions = plan_from(add_best_fixes(result.fixes, result.without_input));
  if (with_conditions.is_enough) result.plan = std::move(with_conditions);
}

Result<PredictedFixes> HostPredictor::asked() {
  PredictedFixes asked;
  for (const std::string& text : request_.fixes) {
    Result<Fix> fix = parse_fix(text, *model_.host);
    if (!fix) return Unexpected(std::move(fix.error()));
    asked.fixes.push_back(*fix);
  }
  asked.prediction = predict_on_machine(asked.fixes);
  return asked;
}

/// The judged pipeline that the model's consumer takes its elements from.
std::optional<std::size_t> pipeline_of(const Measurements& measurements, const Judgement& judgement, std::size_t host) {
  const CycleSample& sample = measurements.hosts[host].cycles;
  if (sample.consumers.empty() || sample.consumers.front().root == kNoIterator) return std::nullopt;
  for (std::size_t index = 0; index < judgement.pipelines.size(); ++index) {
    const PipelineJudgement& judged = judgement.pipelines[index];
    if (judged.host != host) continue;
    if (measurements.hosts[host].pipelines[judged.pipeline].root == sample.consumers.front().root) return index;
  }
  return std::nullopt;
}

NoGainBecause why_no_model(const HostMeasurement& host) {
  if (host.has_session_runs) return NoGainBecause::no_threads;
  if (host.pipelines.empty()) return NoGainBecause::no_consumer;
  if (host.cycles.has_too_many_events) return NoGainBecause::too_many_events;
  const bool has_iterators = std::ranges::any_of(
      host.pipelines, [](const PipelineMeasurement& pipeline) { return pipeline.root != kNoIterator; });
  if (!has_iterators) return NoGainBecause::no_iterators;
  return host.cycles.consumers.empty() ? NoGainBecause::too_few_calls : NoGainBecause::too_few_elements;
}

void name_rules(const Diagnosis& diagnosis, HostPredictions& host) {
  const auto rule_of = [&](const Fix& fix) -> std::string {
    for (const Finding& finding : diagnosis.findings) {
      if (finding.host != host.host) continue;
      for (const Advice& advice : finding.advice) {
        const auto is_same = [&](const Fix& other) { return other.kind == fix.kind && other.iterator == fix.iterator; };
        if (std::any_of(advice.fixes.begin(), advice.fixes.end(), is_same)) return finding.rule;
      }
    }
    return {};
  };
  for (PredictedFixes& fix : host.fixes) fix.rule = rule_of(fix.fixes.front());
  for (PredictedFixes& fix : host.together) fix.rule = rule_of(fix.fixes.front());
  if (host.asked && !host.asked->fixes.empty()) host.asked->rule = rule_of(host.asked->fixes.front());
  if (!host.plan) return;
  for (PredictedFixes& fix : host.plan->steps) fix.rule = rule_of(fix.fixes.back());
}

}  // namespace

const PredictedFixes* ParallelismCurve::knee() const {
  constexpr double kNearlyAll = 0.97;  // of the most: what is less is not to be told from nothing
  double most = 0;
  for (const PredictedFixes& point : points) most = std::max(most, point.prediction.estimate);
  const auto first = std::find_if(points.begin(), points.end(), [&](const PredictedFixes& point) {
    return point.prediction.estimate >= kNearlyAll * most;
  });
  return first == points.end() ? nullptr : &*first;
}

std::int64_t threads_of_pool(const CycleSample& sample, const WhatIfRequest& request) {
  return sample.pool_threads == sample.cores ? request.cores.value_or(sample.cores) : sample.pool_threads;
}

Result<std::vector<HostPredictions>> predict_fixes(const Measurements& measurements, const Diagnosis& diagnosis,
                                                   const WhatIfRequest& request) {
  std::vector<HostPredictions> hosts;
  std::optional<Error> unknown_fix;
  bool is_asked_for = false;
  for (std::size_t index = 0; index < measurements.hosts.size(); ++index) {
    HostPredictions& host = hosts.emplace_back();
    host.host = index;
    HostPredictor predictor(diagnosis.throughputs[index].with(measurements.hosts[index]), request);
    if (!predictor.exists()) {
      host.why_none = why_no_model(measurements.hosts[index]);
      continue;
    }
    host.pipeline = pipeline_of(measurements, diagnosis.judgement, index);
    predictor.fill(measurements.hosts[index], diagnosis, host);
    if (!request.fixes.empty()) {
      Result<PredictedFixes> asked = predictor.asked();
      if (asked) {
        host.asked = *std::move(asked);
        is_asked_for = true;
      } else if (!unknown_fix) {
        unknown_fix = std::move(asked.error());
      }
    }
    name_rules(diagnosis, host);
  }
  if (unknown_fix && !is_asked_for) return Unexpected(*std::move(unknown_fix));
  return hosts;
}

}  // namespace doctor
