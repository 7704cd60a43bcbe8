#include "diagnose/judgement.h"

#include "diagnose/judgement_passes.h"
#include "diagnose/pipelines.h"
#include "diagnose/recording.h"
#include "diagnose/tuning.h"

namespace doctor {
namespace {

bool is_complete(const Measurements& measurements) {
  return std::all_of(measurements.hosts.begin(), measurements.hosts.end(),
                     [](const HostMeasurement& host) { return host.event_count > 0 && host.loss.complete(); });
}

/// `judged` has its place already.
void judge_pipeline(const PipelineEvidence& evidence, PipelineJudgement& judged) {
  judge_level(evidence, judged);
  follow_whole_run(evidence, judged);
  judge_rates(evidence, judged);
  choose_culprit(evidence, judged);
  judged.limit = limit_of(evidence, judged);
  if (judged.level != InputLevel::unknown) {
    judged.confidence = confidence_of(evidence, judged);
    judged.doubt = weakest_part(evidence, judged);
    if (judged.confidence.in_level() < evidence.thresholds["min_confidence"]) judged.level = InputLevel::unknown;
    doubt_what_window_hides(evidence, judged);
  }
  doubt_unread_devices(evidence, judged);
  doubt_torn_file(evidence, judged);
}

/// Worst first: who holds the job up, then what is unknown although more time was spent in it than in what is known,
/// then the rest. What another loop takes beside the training comes after that, and last what only feeds another
/// pipeline: it is part of that one's waits.
void rank(const Measurements& measurements, std::vector<PipelineJudgement>& pipelines) {
  const auto measured = [&](const PipelineJudgement& of) -> const PipelineMeasurement& {
    return measurements.hosts[of.host].pipelines[of.pipeline];
  };
  Picoseconds heaviest_known = 0;
  for (const PipelineJudgement& of : pipelines) {
    const bool is_known = of.level != InputLevel::unknown && measured(of).is_input_of_job();
    if (is_known) heaviest_known = std::max(heaviest_known, measured(of).total);
  }
  const auto place = [&](const PipelineJudgement& of) {
    if (measured(of).feeds_another) return 6;
    if (measured(of).is_beside_training) return 5;
    if (of.level == InputLevel::bound) return 0;
    if (of.level == InputLevel::unknown) return measured(of).total > heaviest_known ? 1 : 4;
    return of.level == InputLevel::mild ? 2 : 3;
  };
  // A ReduceDataset op is a whole loop, and may be a computation on data rather than the training: of two pipelines
  // that hold their consumers up alike, the one that is asked by GetNext ops counts.
  std::stable_sort(pipelines.begin(), pipelines.end(), [&](const PipelineJudgement& a, const PipelineJudgement& b) {
    if (place(a) != place(b)) return place(a) < place(b);
    if (measured(a).is_reduced != measured(b).is_reduced) return measured(b).is_reduced;
    return measured(a).total > measured(b).total;
  });
}

/// A trace without tf.data is one of another kind of job only if it is whole, and long enough to show something.
void judge_without_pipelines(const Measurements& measurements, double min_confidence, Judgement& judgement) {
  std::uint64_t events = 0;
  bool mentions_tf_data = measurements.shows_tf_data();
  for (const HostMeasurement& host : measurements.hosts) {
    events += host.event_count;
    mentions_tf_data = mentions_tf_data || host.mentions_tf_data;
  }
  if (mentions_tf_data || !is_complete(measurements)) return;
  // Chosen: a job of another kind has hundreds of events in its shortest window.
  constexpr double kEventsOfHalfDoubt = 20;
  judgement.confidence = static_cast<double>(events) / (static_cast<double>(events) + kEventsOfHalfDoubt);
  if (judgement.confidence >= min_confidence) judgement.status = VerdictStatus::no_input_pipeline;
}

}  // namespace

std::vector<Threshold> verdict_thresholds() {
  return {
      {"min_share", 0.20, "share",
       "a job is input-bound if it spends at least this share of its time in GetNext; XProf calls it highly "
       "input-bound"},
      {"min_mild_share", 0.05, "share", "the same for a note; XProf calls it moderately input-bound"},
      {"min_latency", 50, "us",
       "mean GetNext latency, without the longest call, that must be exceeded too: the limit of TensorFlow's guide "
       "\"Analyze tf.data performance with the TF Profiler\" (tensorflow.org/guide/data_performance_analysis). "
       "Necessary, never sufficient: healthy jobs show medians of 45 to 120 us"},
      {"min_confidence", 0.33, "share",
       "minimum confidence in the level, whoever the culprit is, for a verdict other than `inconclusive`; chosen so "
       "that every labelled trace with a verdict stays above it"},
      {"min_budget_confidence", 0.20, "share",
       "minimum confidence with which a budget is kept: below it the budget is not evaluated (exit status 3). Chosen "
       "so "
       "that every healthy labelled trace passes (0.21 and more); of 38 traces that had lost events and kept a budget, "
       "it stops a quarter, 0.5 would stop half of them and half of the healthy ones, too"},
      {"min_other_share", 0.10, "share",
       "where the steps of the whole run were clocked: the verdict follows them if they waited for a share of their "
       "time that differs by this much from that of the recorded steps. Chosen: shares of windows drift by 0.03"},
      {"max_stored_share", 0.50, "share",
       "maximum share of the batches taken that may have been in a prefetch before the window, for a verdict that the "
       "input keeps up: with more, the trace shows the buffer and not what fills it. Chosen: half"},
      {"min_culprit_share", 0.30, "share",
       "where nobody waits for long: minimum share of the waits that their culprit must hold to be named; otherwise "
       "the busiest iterator is. Chosen"},
      {"min_thread_share", 0.80, "share",
       "a sequential stage whose thread is at work for at least this share of the time never rests (the remainder is "
       "waking up and handing elements over) and is the culprit instead of the stage after it that the waits end at"},
      {"min_input_thread_share", 0.50, "share",
       "the same if the stage after it does next to nothing itself, and for a stage to count as a rival of the "
       "culprit"},
      {"min_thread_lead", 1.15, "ratio",
       "the thread must also be busier than that of the stage which the waits end at by at least this factor; if they "
       "are closer, the waits decide"},
      {"min_cores_taken", 0.10, "share",
       "a job whose own cores train is input-bound too, however short its waits, if all cores are in use, the input "
       "keeps this share of them busy, and a model of the pipeline says that without it steps would be shorter by "
       "min_share. The model decides; this keeps it from judging an input that does next to nothing. Healthy labelled "
       "traces measured up to 0.06"},
      {"min_gain", kLeastGain, "factor",
       "advice that is predicted to make the job faster by less is not given: rates differ as much from run to run"},
      {"max_python_share", 0.05, "share",
       "a trace can show what limits the rest of the culprit's function up to this share of it in Python"},
      {"min_file_share", 0.50, "share",
       "minimum share of the culprit's function in ops that read or write files for it to count as waiting. Chosen: "
       "half"},
  };
}

std::vector<Threshold> judgement_thresholds() {
  std::vector<Threshold> thresholds = verdict_thresholds();
  thresholds.insert(thresholds.end(), shared_thresholds().begin(), shared_thresholds().end());
  return thresholds;
}

Judgement judge(const Measurements& measurements, const ThresholdValues& thresholds) {
  Throughputs none;
  return judge(measurements, thresholds, none);
}

Judgement judge(const Measurements& measurements, const ThresholdValues& thresholds, Throughputs& throughputs) {
  Judgement judgement;
  for (std::size_t host = 0; host < measurements.hosts.size(); ++host) {
    const HostMeasurement& measured = measurements.hosts[host];
    for (std::size_t index = 0; index < measured.pipelines.size(); ++index) {
      PipelineJudgement& judged = judgement.pipelines.emplace_back();
      judged.host = host;
      judged.pipeline = index;
      Throughput* const throughput = throughputs.empty() ? nullptr : &throughputs[host];
      judge_pipeline({measured, measured.pipelines[index], thresholds, throughput}, judged);
    }
  }
  rank(measurements, judgement.pipelines);
  if (judgement.pipelines.empty()) {
    judge_without_pipelines(measurements, thresholds["min_confidence"], judgement);
    return judgement;
  }
  const PipelineJudgement& worst = judgement.pipelines.front();
  judgement.confidence = worst.confidence.total();
  if (worst.level == InputLevel::unknown) return judgement;
  judgement.status = worst.level == InputLevel::bound ? VerdictStatus::input_bound : VerdictStatus::healthy;
  // A pipeline that holds the run up may be in a file that is torn.
  if (judgement.status == VerdictStatus::healthy && torn_file(measurements)) {
    judgement.status = VerdictStatus::inconclusive;
    judgement.confidence = std::min(judgement.confidence, kMostCoverageOfTorn);
  }
  return judgement;
}

}  // namespace doctor
