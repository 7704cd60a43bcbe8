#pragma once

#include "diagnose/diagnose.h"
#include "diagnose/doubt.h"
#include "diagnose/judgement_types.h"
#include "measure/measurements.h"

namespace doctor {

/// From here on a verdict is sure: docs/configuration.md says what the confidence means.
inline constexpr double kSureConfidence = 0.7;

/// Whether the judgement names an iterator that somebody waits for: in a pipeline that holds its consumer up, or held
/// it up while it warmed up. The busiest iterator of a pipeline that keeps up is not a bottleneck.
bool names_culprit(const PipelineJudgement& judgement);

/// The losses of all files together.
Loss total_loss(const Measurements& measurements);

std::uint64_t event_count(const Measurements& measurements);

/// Share of the time that the consumer waits; nullopt if no call was seen.
std::optional<double> input_share_of(const PipelineView& view);

/// Whether a verdict may well be wrong.
enum class Certainty {
  sure,
  probable,  ///< a confidence below kSureConfidence
  unknown,   ///< there is no verdict on the input
};

/// The one call without which a job is judged otherwise.
struct CallSetAside {
  Picoseconds length = 0;
  std::size_t call = 1;   ///< from 1
  double wait_share = 0;  ///< of the time, 0..1, with it
};

/// Hosts of a run, or windows of one host, that wait beside others.
struct WaitingHosts {
  std::size_t waiting = 0;
  std::size_t compared = 0;
  bool are_windows = false;
};

/// What workers do while the training computes.
struct HiddenWork {
  std::string function;  ///< "__getitem__ at train.py:16"
  std::size_t workers = 0;
  Picoseconds typical = 0;  ///< for a batch
  std::string loader;       ///< whose worker processes do it, of which the trace shows nothing; else empty
};

/// What the first line says.
struct Verdict {
  VerdictStatus status = VerdictStatus::inconclusive;
  Certainty certainty = Certainty::unknown;
  InputLevel level = InputLevel::unknown;
  bool is_of_devices = false;  ///< the waits are those in which no device computes
  bool is_one_step = false;
  double wait_share = 0;                 ///< of the time, 0..1, that the consumer waits
  std::optional<double> lost_share;      ///< PipelineJudgement::lost_share
  std::optional<double> recorded_share;  ///< of the recorded steps, where the verdict follows those of the whole run
  InputCost cost;
  std::optional<CallSetAside> set_aside;
  std::optional<WaitingHosts> hosts;  ///< none: one host, or all wait alike
  std::optional<HiddenWork> hidden;   ///< of a job that does not wait for its workers
};

/// Where the waits come from.
struct Cause {
  PipelineView pipeline;
  IteratorId iterator = kNoIterator;  ///< kNoIterator: the trace shows nothing inside of `loader`
  std::string loader;                 ///< whose next() is waited for, where that is not tf.data's: "Grain"
  bool is_warmup = false;             ///< only the first calls waited
  std::vector<FunctionOp> ops;        ///< of its function, longest first
};

/// Where Rates::now comes from.
enum class RateSource {
  model,     ///< without the cost of recording
  recorded,  ///< of the recorded steps
  clocked,   ///< of the steps before the recording
};

/// Steps a second.
struct Rates {
  double now = 0;
  double ready = 0;  ///< if data were always ready
  RateSource source = RateSource::model;
};

/// A change to make, in the order of the product's one ranking.
struct FixAnswer {
  const Finding* finding = nullptr;  ///< whose advice it is
  const Advice* advice = nullptr;
  std::optional<std::size_t> instead_of;  ///< index into Answer::fixes: make one of the two
  bool is_unproven = false;               ///< Change::is_unproven
  /// What it brings: alone, or on top of the fixes before it that add up. nullopt: not known.
  std::optional<Gain> gain;
  bool adds_up = false;    ///< `gain` is that together with the fixes before it
  double rate_before = 0;  ///< steps a second without it; 0 without a gain
};

/// What a user does next.
enum class NextStep {
  try_fixes,       ///< predict other changes
  look_elsewhere,  ///< the input is fine: where the time of a step goes
  look_inside,     ///< no verdict on tf.data, or another loader: what the trace shows
};

/// What the product has to say about a job: facts without words. Refers to the measurements and the diagnosis. Every
/// document prints it, so that none says what another does not.
struct Answer {
  Verdict verdict;
  Doubt doubt;                             ///< why the verdict is not sure; std::monostate: it is, or there is none
  std::optional<CacheFill> filling_cache;  ///< of the first epoch, where the waits are those of filling it
  std::optional<Cause> cause;
  std::optional<Rates> rates;
  std::vector<FixAnswer> fixes;
  NoGainBecause no_gain_because = NoGainBecause::nobody_waits;  ///< of all fixes, where none has a gain
  bool no_fix_gains = false;  ///< the model knows changes, and none makes the job clearly faster
  NextStep next = NextStep::look_inside;
};

Answer answer_of(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
