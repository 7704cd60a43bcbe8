#include <fmt/format.h>

#include "diagnose/judgement.h"
#include "diagnose/loaders.h"
#include "diagnose/pipelines.h"
#include "text/numbers.h"

namespace doctor::rules::input_bound {
namespace {

std::vector<Evidence> evidence_of(const RankedPipeline& ranked) {
  const PipelineMeasurement& pipeline = ranked.pipeline;
  std::vector<Evidence> evidence = {
      share_of("input_share", ranked.judgement.input_share),
      share_of("share_of_all_calls", pipeline.judged_cadence().share),
      share_of("share_without_slowest_call", pipeline.judged_trimmed_cadence().share),
      time_of("mean_without_slowest_call", pipeline.trimmed_mean),
      time_of("median", pipeline.median),
      time_of("max", pipeline.max),
      number_of("calls", pipeline.calls.size(), "calls"),
      number_of("warmup_calls", pipeline.warmup_count, "calls"),
      number_of("slow_calls", pipeline.slow_count, "calls"),
  };
  if (ranked.judgement.cost.takes != InputCost::Takes::nothing) {
    evidence.push_back({"speedup_without_input", ranked.judgement.cost.speedup_without_input, "factor"});
  }
  if (pipeline.step_share) evidence.push_back(share_of("share_of_step_markers", *pipeline.step_share));
  if (pipeline.exposed) {
    evidence.push_back(share_of("get_next_share", pipeline.cadence.share));
    evidence.push_back(time_of("waited_with_idle_devices", pipeline.exposed->time));
  }
  return evidence;
}

std::vector<Advice> advice_for(const RankedPipeline& ranked) {
  if (ranked.judgement.follows_whole_run) {
    const WholeRun& run = *ranked.judgement.whole_run;
    const std::string script = ranked.host.recording.script ? ranked.host.recording.script->name : "SCRIPT.py";
    return {{{"Record the steps that wait", "These hardly do, so the trace does not show why."},
             fmt::format("python -m tfdata_doctor --batches {}-{} {}", run.worst_first, run.worst_last, script)}};
  }
  if (!ranked.pipeline.next_of.empty()) return advice_about_loader(ranked.host, ranked.pipeline);
  if (!ranked.has_culprit() && ranked.host.has_session_runs) {
    return {{{"Trace several session runs, and give all their timelines at once",
              "Use trace_level=tf.RunOptions.FULL_TRACE. This timeline shows that GetNext is slow, but not why."},
             std::nullopt}};
  }
  if (!ranked.has_culprit()) {
    return {{{"Record it with the profiler of TF 2 (host tracer level 2)",
              "It shows the iterators inside of GetNext. This trace shows that GetNext is slow, but not why."},
             std::nullopt}};
  }
  if (ranked.judgement.cost.takes != InputCost::Takes::nothing) {
    return {{{"Do less work per step",
              "Cache what is the same in every epoch, prepare the data before training, or move the input to other "
              "cores (an accelerator, tf.data service)."},
             std::nullopt}};
  }
  return {};  // the changes are those of the culprit, which other rules and the model know
}

/// The questions that gave the judgement its level: the thresholds are those of the verdict.
bool is_slow(const RankedPipeline& ranked, Examiner& examiner) {
  const PipelineMeasurement& pipeline = ranked.pipeline;
  if (ranked.judgement.level == InputLevel::unknown) {
    examiner.misses(kTooLittleEvidence);
    return false;
  }
  if (ranked.judgement.cost.takes != InputCost::Takes::nothing) {
    const Evidence factor = {"speedup_without_input", ranked.judgement.cost.speedup_without_input, "factor"};
    return examiner.holds(
        fmt::format("a model says that the job would be {:.2f} times as fast without its input", factor.value), true);
  }
  const bool is_long = ranked.judgement.follows_whole_run ||
                       examiner.above(time_of("mean_without_slowest_call", pipeline.trimmed_mean), "min_latency");
  const bool is_slow =
      is_long && examiner.at_least(share_of("input_share", ranked.judgement.input_share), "min_mild_share");
  if (is_slow) examiner.at_least(share_of("input_share", ranked.judgement.input_share), "min_share");
  return is_slow;
}

std::optional<Finding> check_pipeline(const RankedPipeline& ranked, Examiner& examiner) {
  examiner.is_about(ranked.pipeline.root);
  if (!is_slow(ranked, examiner)) return std::nullopt;
  const PipelineMeasurement& pipeline = ranked.pipeline;
  Finding finding;
  finding.severity = ranked.is_bound() ? Severity::warning : Severity::note;
  if (pipeline.root != kNoIterator) finding.subject = ranked[pipeline.root].long_name;
  finding.message =
      fmt::format("{} ({}, median {}, max {})", input_part(pipeline, ranked.judgement),
                  format_count(pipeline.calls.size(), "call"), format_time(pipeline.median), format_time(pipeline.max));
  finding.evidence = evidence_of(ranked);
  finding.advice = advice_for(ranked);
  finding.at_stake = pipeline.exposed ? pipeline.exposed->time : pipeline.steady.waited;
  return finding;
}

}  // namespace

Rule rule() {
  return {.id = "input-bound",
          .summary = "The consumer waits for data instead of computing",
          .follows = {references::kAnalysis},
          .thresholds = verdict_thresholds(),
          .check = each_pipeline<check_pipeline>,
          .states_verdict = true};
}

}  // namespace doctor::rules::input_bound
