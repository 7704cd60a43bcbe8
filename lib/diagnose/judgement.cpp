#include "diagnose/judgement.h"

#include <algorithm>
#include <cmath>

#include "diagnose/confidence.h"
#include "diagnose/culprit.h"
#include "diagnose/dataset_words.h"
#include "diagnose/limits.h"
#include "diagnose/pipelines.h"
#include "diagnose/torn_files.h"
#include "diagnose/tuning.h"
#include "diagnose/unread_devices.h"
#include "diagnose/user_code.h"

namespace doctor {
namespace {

InputLevel level_of_share(double share, const ThresholdValues& thresholds) {
  if (share >= thresholds["min_share"]) return InputLevel::bound;
  return share >= thresholds["min_mild_share"] ? InputLevel::mild : InputLevel::not_bound;
}

/// Sets the level and the share that it rests on. All calls count, but one call alone decides nothing; calls that are
/// as long again and again are more than one.
void judge_level(const PipelineMeasurement& pipeline, const ThresholdValues& thresholds, PipelineJudgement& judgement) {
  if (pipeline.calls.empty()) return;
  const double all = pipeline.judged_cadence().share;
  const double robust = is_tipped_by_one_call(pipeline, thresholds) ? all : pipeline.input_share();
  judgement.level = level_of_share(robust, thresholds);
  judgement.sets_call_aside = judgement.level != level_of_share(all, thresholds);
  judgement.input_share = judgement.sets_call_aside ? robust : all;
  if (to_microseconds(pipeline.trimmed_mean) <= thresholds["min_latency"]) judgement.level = InputLevel::not_bound;
}

/// A filling shuffle buffer makes its input busy; the buffer is what the user can change.
IteratorId warmup_culprit(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  const IteratorId culprit = pipeline.warmup.culprit;
  if (!pipeline.shuffle_fill || culprit == kNoIterator) return culprit;
  const IteratorMeasurement& iterator = host.iterators[index_of(culprit)];
  const bool is_below_shuffle = iterator.parent == pipeline.shuffle_fill->iterator;
  const Source source = dataset_kind(iterator).source;
  const bool is_in_memory = source == Source::memory || source == Source::numbers;
  return is_below_shuffle && is_in_memory ? pipeline.shuffle_fill->iterator : culprit;
}

/// The waits of the calls for these iterators, as a share of the time waited.
double share_of_waits(const PhaseMeasurement& phase, Picoseconds held) {
  return phase.waited > 0 ? std::min(1.0, static_cast<double>(held) / static_cast<double>(phase.waited)) : 0;
}

/// Makes another iterator the culprit than the one that the waits end at.
void choose(IteratorId culprit, ChosenBy chosen_by, const PhaseMeasurement& phase, PipelineJudgement& judgement) {
  judgement.culprit = culprit;
  judgement.chosen_by = chosen_by;
  judgement.culprit_share = share_of_waits(phase, phase.critical[index_of(culprit)]);
}

/// The waits end at a later stage; the pace is that of the thread which never rests.
void follow_to_saturated_stage(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                               const ThresholdValues& thresholds, PipelineJudgement& judgement) {
  const std::optional<BusyStage> stage = find_busiest_stage_below(host, pipeline);
  if (!stage) return;
  if (!is_saturated(*stage, host, pipeline.steady, thresholds)) {
    judgement.has_rival = rivals_culprit(*stage, host, pipeline.steady, thresholds);
    return;
  }
  judgement.evidence = {judgement.culprit, stage->busy, stage->busy_of_culprit, 0};
  choose(stage->iterator, ChosenBy::thread, pipeline.steady, judgement);
}

/// What waits for a core waits for the iterator that uses the cores.
void follow_to_user_of_cores(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                             const ThresholdValues& thresholds, PipelineJudgement& judgement) {
  const PhaseMeasurement& phase = pipeline.steady;
  const IteratorId user = find_user_of_cores(host, pipeline, phase, thresholds);
  if (user == kNoIterator) return;
  judgement.evidence = {phase.culprit, 0, 0, phase.function_idle};
  choose(user, ChosenBy::cores, phase, judgement);
}

/// The waits end at the work that goes on while the consumer waits; what limits the throughput is the stage that gains
/// most if its work takes no time.
void follow_to_limiting_stage(const PipelineMeasurement& pipeline, Throughput& throughput,
                              PipelineJudgement& judgement) {
  const LimitingStage limiting = find_limiting_stage(throughput, pipeline, judgement.culprit);
  judgement.rival = limiting.rival;
  if (limiting.stage == kNoIterator) return;
  judgement.evidence = {judgement.culprit, 1 + limiting.gain, 1 + limiting.gain_of_culprit, 0};
  choose(limiting.stage, ChosenBy::model, pipeline.steady, judgement);
  judgement.has_rival = false;
}

void find_culprit(const HostMeasurement& host, const PipelineMeasurement& pipeline, const ThresholdValues& thresholds,
                  Throughput* throughput, PipelineJudgement& judgement) {
  const Picoseconds steady = pipeline.steady.waited;
  const Picoseconds warmup = pipeline.warmup.waited;
  const auto share_in = [](const PhaseMeasurement& phase, IteratorId culprit) {
    return culprit == kNoIterator ? 0.0 : share_of_waits(phase, phase.critical[index_of(culprit)]);
  };
  const bool is_slow = judgement.level == InputLevel::bound || judgement.level == InputLevel::mild;
  if (judgement.level != InputLevel::bound && warmup > steady && pipeline.warmup.culprit != kNoIterator) {
    judgement.phase = Phase::warmup;
    judgement.culprit = warmup_culprit(host, pipeline);
    judgement.culprit_share = share_in(pipeline.warmup, pipeline.warmup.culprit);
    return;
  }
  judgement.culprit = pipeline.steady.culprit;
  judgement.culprit_share = share_in(pipeline.steady, judgement.culprit);
  if (is_slow && judgement.culprit != kNoIterator) {
    follow_to_user_of_cores(host, pipeline, thresholds, judgement);
    if (!sets_pace(judgement)) follow_to_saturated_stage(host, pipeline, thresholds, judgement);
    if (throughput != nullptr) follow_to_limiting_stage(pipeline, *throughput, judgement);
  }
  if (!is_slow && pipeline.busiest != kNoIterator && judgement.culprit_share < thresholds["min_culprit_share"]) {
    judgement.phase = Phase::background;
    judgement.culprit = pipeline.busiest;
    judgement.culprit_share = 0;
  }
}

bool is_complete(const Measurements& measurements) {
  return std::all_of(measurements.hosts.begin(), measurements.hosts.end(),
                     [](const HostMeasurement& host) { return host.event_count > 0 && host.loss.complete(); });
}

/// Recording slows an input of many ops down more than the loop that takes its elements. Where a device computes, what
/// launches its work is slowed down as well. Steps that were faster than recorded ones without their waits lived on
/// stored elements.
void take_clocked_rate(const HostMeasurement& host, const PipelineMeasurement& pipeline, PipelineJudgement& judged) {
  const double clocked = judged.steps_per_s * host.clocked_slowdown.value_or(1);
  if (pipeline.exposed || clocked <= judged.steps_per_s || clocked >= judged.steps_per_s_without_input) return;
  judged.has_clocked_rate = true;
  judged.steps_per_s = clocked;
}

/// What no model tells: the steps as they were recorded, and without their waits.
void take_recorded_rates(const HostMeasurement& host, const PipelineMeasurement& pipeline, PipelineJudgement& judged) {
  constexpr double kLeastWithoutInput = 0.001;  // of the time: a consumer that does nothing else has no rate of its own
  const std::size_t first = pipeline.warmup_count;
  const double share = pipeline.judged_cadence().share;
  if (pipeline.feeds_another || !pipeline.has_cadence || first + 1 >= pipeline.calls.size()) return;
  const Picoseconds time = pipeline.calls.back().start - pipeline.calls[first].start;
  if (time <= 0 || share >= 1 - kLeastWithoutInput) return;
  judged.has_recorded_rates = true;
  judged.steps_per_s = 1e6 * static_cast<double>(pipeline.calls.size() - 1 - first) / to_microseconds(time);
  judged.steps_per_s_without_input = judged.steps_per_s / (1 - share);
  take_clocked_rate(host, pipeline, judged);
}

void take_rates(const HostMeasurement& host, const PipelineMeasurement& pipeline, Throughput& throughput,
                PipelineJudgement& judged) {
  if (!throughput.tells_gains_of(pipeline)) return take_recorded_rates(host, pipeline, judged);
  judged.steps_per_s = throughput.steps_per_s();
  if (!throughput.is_for_report() && !pipeline.exposed) return;
  judged.steps_per_s_without_input = throughput.without_input().estimate;
  const double lost = 1 - judged.steps_per_s / std::max(judged.steps_per_s, judged.steps_per_s_without_input);
  if (pipeline.exposed && lost > judged.input_share) judged.lost_share = lost;
}

/// Where the cores of this host compute, an input that nobody waits for may take them, or Python's lock, from the
/// training: then it holds the job up all the same. Returns whether a model says more about a job that waits.
bool judge_throughput(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                      const ThresholdValues& thresholds, Throughput& throughput, PipelineJudgement& judged) {
  if (judged.level != InputLevel::unknown)
    judged.cost = find_input_cost(throughput, pipeline, judged.input_share, thresholds);
  if (judged.cost.takes != InputCost::Takes::nothing) judged.level = InputLevel::bound;
  const bool is_slow = judged.level == InputLevel::bound || judged.level == InputLevel::mild;
  if (!is_slow) return false;
  take_rates(host, pipeline, throughput, judged);
  if (!throughput.is_about(pipeline)) return false;
  judged.bottleneck = throughput.model()->now.limited_by;
  return true;
}

/// Rates differ by less from run to run: of 43 labelled programs that were timed several times, the fastest time is
/// less than this times as fast as the slowest in 38.
constexpr double kClockedSlowdown = 1.5;

bool keeps_up(const PipelineJudgement& judgement) {
  return judgement.level == InputLevel::not_bound || judgement.level == InputLevel::mild;
}

/// Of a buffer: with fewer, one element more or less decides.
constexpr std::uint64_t kLeastTaken = 10;

/// The nearest prefetch below the consumer, over what only passes elements on; kNoIterator: there is none.
IteratorId last_prefetch(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  IteratorId id = pipeline.root;
  for (std::size_t depth = 0; id != kNoIterator && depth < host.iterators.size(); ++depth) {
    const IteratorMeasurement& iterator = host.iterators[index_of(id)];
    if (kind_of(iterator) == "Prefetch") return id;
    const bool passes_on = has_trait(iterator, Trait::frame) || has_trait(iterator, Trait::passes_on);
    if (!passes_on || iterator.children.size() != 1) return kNoIterator;
    id = iterator.children.front();
  }
  return kNoIterator;
}

/// A buffer that gives out more than it takes in runs empty: what makes its elements may pause for longer than the
/// window.
void find_stored_elements(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                          const ThresholdValues& thresholds, PipelineJudgement& judgement) {
  const IteratorId id = keeps_up(judgement) && !pipeline.feeds_another ? last_prefetch(host, pipeline) : kNoIterator;
  if (id == kNoIterator) return;
  const IteratorMeasurement& prefetch = host.iterators[index_of(id)];
  StoredElements stored;
  stored.taken = prefetch.calls;
  for (const IteratorId child : prefetch.children) stored.made += host.iterators[index_of(child)].calls;
  const double left = static_cast<double>(stored.taken) * (1 - thresholds["max_stored_share"]);
  if (stored.taken < kLeastTaken || static_cast<double>(stored.made) >= left) return;
  const std::int64_t limit = std::max<std::int64_t>(0, last_number(prefetch, "buffer_limit").value_or(0));
  stored.steps_to_record = 2 * std::max(stored.taken, static_cast<std::uint64_t>(limit));
  judgement.stored = stored;
  judgement.level = InputLevel::unknown;
  judgement.doubt = stored;
}

/// Of the pipelines of a host the one whose elements are the steps: it is asked most often.
bool makes_steps(const HostMeasurement& host, const PipelineMeasurement& pipeline) {
  return std::all_of(host.pipelines.begin(), host.pipelines.end(), [&](const PipelineMeasurement& other) {
    return &other == &pipeline || other.calls.size() < pipeline.calls.size();
  });
}

/// A window of a few steps may live on stored elements, or hold the only stall of the run.
void follow_whole_run(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                      const ThresholdValues& thresholds, PipelineJudgement& judgement) {
  if (!host.whole_run || judgement.level == InputLevel::unknown || !makes_steps(host, pipeline)) return;
  const WholeRun& run = *host.whole_run;
  judgement.whole_run = run;
  const InputLevel level = level_of_share(run.wait_share, thresholds);
  const bool is_other_side = (level == InputLevel::bound) != (judgement.level == InputLevel::bound);
  const bool differs = std::abs(run.wait_share - run.recorded_wait_share) >= thresholds["min_other_share"];
  // A clock that sees the recorded steps otherwise than the trace does is not to be trusted with the others.
  const InputLevel recorded = level_of_share(run.recorded_wait_share, thresholds);
  const bool agrees = (recorded == InputLevel::bound) == (judgement.level == InputLevel::bound);
  if (!is_other_side || !differs || !agrees) return;
  judgement.follows_whole_run = true;
  judgement.level = level;
  judgement.input_share = run.wait_share;
  judgement.sets_call_aside = false;
}

/// Recording only slows steps down: where others take longer, something holds them up that the window does not show.
void doubt_other_steps(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                       const ThresholdValues& thresholds, PipelineJudgement& judgement) {
  if (!host.other_steps || !keeps_up(judgement) || !makes_steps(host, pipeline)) return;
  if (host.other_steps->extra_share() < thresholds["min_share"]) return;
  judgement.level = InputLevel::unknown;
  judgement.doubt = *host.other_steps;
}

PipelineJudgement judge_pipeline(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                                 const ThresholdValues& thresholds, Throughput* throughput) {
  PipelineJudgement judged;
  judge_level(pipeline, thresholds, judged);
  follow_whole_run(host, pipeline, thresholds, judged);
  // What the other steps waited for is not in the trace: neither a culprit nor a model of it.
  const bool is_shown = !judged.follows_whole_run;
  const bool has_model =
      is_shown && throughput != nullptr && judge_throughput(host, pipeline, thresholds, *throughput, judged);
  if (is_shown) find_culprit(host, pipeline, thresholds, has_model ? throughput : nullptr, judged);
  judged.limit = limit_of(host, pipeline, judged, thresholds);
  if (judged.level == InputLevel::unknown) return judged;
  if (throughput != nullptr && judged.level == InputLevel::not_bound && throughput->takes_from(pipeline)) {
    judged.late_share = throughput->late_share();
  }
  if (throughput != nullptr && judged.level == InputLevel::bound) {
    judged.slowdown_by_tracing = throughput->slowdown_by_tracing();
  }
  if (const double clocked = host.clocked_slowdown.value_or(1); clocked >= kClockedSlowdown) {
    judged.slowdown_by_tracing = std::max(judged.slowdown_by_tracing, clocked);
  }
  judged.confidence = confidence_of(pipeline, judged, thresholds);
  judged.doubt = weakest_part(pipeline, judged, thresholds);
  if (judged.confidence.in_level() < thresholds["min_confidence"]) judged.level = InputLevel::unknown;
  find_stored_elements(host, pipeline, thresholds, judged);
  doubt_other_steps(host, pipeline, thresholds, judged);
  return judged;
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
  bool mentions_tf_data = shows_tf_data(measurements);
  for (const HostMeasurement& host : measurements.hosts) {
    events += host.event_count;
    mentions_tf_data = mentions_tf_data || host.mentions_tf_data;
  }
  if (mentions_tf_data || !is_complete(measurements)) return;
  constexpr double kEventsOfHalfDoubt = 20;
  judgement.confidence = static_cast<double>(events) / (static_cast<double>(events) + kEventsOfHalfDoubt);
  if (judgement.confidence >= min_confidence) judgement.status = VerdictStatus::no_input_pipeline;
}

/// Of the pipelines that rules about culprits look at.
void name_culprits(const Measurements& measurements, std::vector<PipelineJudgement>& pipelines) {
  for (PipelineJudgement& judgement : pipelines) {
    const bool is_slow = judgement.level == InputLevel::bound || judgement.level == InputLevel::mild;
    if (judgement.culprit == kNoIterator || !(is_slow || judgement.phase == Phase::warmup)) continue;
    judgement.culprit_name = describe(measurements.hosts[judgement.host], judgement.culprit);
  }
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
    for (std::size_t index = 0; index < measurements.hosts[host].pipelines.size(); ++index) {
      const PipelineMeasurement& pipeline = measurements.hosts[host].pipelines[index];
      judgement.pipelines.push_back(judge_pipeline(measurements.hosts[host], pipeline, thresholds,
                                                   throughputs.empty() ? nullptr : &throughputs[host]));
      judgement.pipelines.back().host = host;
      judgement.pipelines.back().pipeline = index;
    }
  }
  doubt_unread_devices(measurements, judgement);
  doubt_torn_pipelines(measurements, judgement);
  rank(measurements, judgement.pipelines);
  name_culprits(measurements, judgement.pipelines);
  if (judgement.pipelines.empty()) {
    judge_without_pipelines(measurements, thresholds["min_confidence"], judgement);
    return judgement;
  }
  const PipelineJudgement& worst = judgement.pipelines.front();
  judgement.confidence = worst.confidence.total();
  if (worst.level == InputLevel::unknown) return judgement;
  judgement.status = worst.level == InputLevel::bound ? VerdictStatus::input_bound : VerdictStatus::healthy;
  doubt_torn_run(measurements, judgement);
  return judgement;
}

}  // namespace doctor
