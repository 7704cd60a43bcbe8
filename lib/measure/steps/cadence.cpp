#include "base/intervals.h"
#include "base/ranks.h"
#include "measure/measure_passes.h"

namespace doctor {
namespace {

constexpr std::size_t kMostWarmupCalls = 3;  // chosen: what is slow later is the job itself
constexpr Picoseconds kWarmupFactor = 5;     // times the median. Chosen: usual calls differ by less
constexpr Picoseconds kShortestWarmup = kPicosecondsPerMillisecond;  // what is shorter costs a job nothing
constexpr std::size_t kCallsThatRepeat = 3;  // as many alike in a row are the usual, not a start

/// One call is left out of robust numbers, however many there are: one outlier must not decide, but what comes again,
/// however seldom, is the job's own time.
constexpr std::size_t kSetAside = 1;

/// One steady call and the time until the next one starts; or the calls in one step and its length.
struct Beat {
  Picoseconds latency = 0;
  Picoseconds period = 0;
  std::size_t call = kNoCall;  ///< index into PipelineMeasurement::calls

  static constexpr std::size_t kNoCall = std::numeric_limits<std::size_t>::max();  ///< a step
};

CadenceShare share_of(std::span<const Beat> beats) {
  double waited = 0;
  double passed = 0;
  for (const Beat& beat : beats) {
    waited += static_cast<double>(beat.latency);
    passed += static_cast<double>(beat.period);
  }
  CadenceShare result;
  result.beats = beats.size();
  result.share = passed > 0 ? std::min(1.0, waited / passed) : waited > 0 ? 1.0 : 0.0;
  if (beats.size() < 2 || passed <= 0) return result;
  double squares = 0;
  for (const Beat& beat : beats) {
    const double residual = static_cast<double>(beat.latency) - result.share * static_cast<double>(beat.period);
    squares += residual * residual;
  }
  const auto count = static_cast<double>(beats.size());
  result.error = std::sqrt(squares * count / (count - 1)) / passed;
  return result;
}

/// Steady calls of a consumer, sorted by start, and when it waits: in them, and where it makes the pipeline anew for
/// every step, while that is made and ended.
struct Waits {
  std::span<const Interval> calls;
  std::vector<Interval> spans;        ///< disjoint and sorted
  std::vector<Picoseconds> of_calls;  ///< indexed as `calls`: each with what is waited until the next one
};

/// Shares `spans` out to the calls.
void share_out(Waits& waits) {
  std::vector<Interval> inside;
  for (std::size_t index = 0; index < waits.calls.size(); ++index) {
    const Interval call = waits.calls[index];
    const bool is_last = index + 1 == waits.calls.size();
    inside.clear();
    clip({call.start, is_last ? call.end : waits.calls[index + 1].start}, waits.spans, inside);
    waits.of_calls[index] = total_length(inside);
  }
}

/// Whether the consumer waits in more than its calls.
bool waits_beside_calls(const PipelineMeasurement& pipeline) {
  return pipeline.remade.has_value() || !pipeline.next_frames.empty();
}

Waits whole_waits(const PipelineMeasurement& pipeline) {
  const std::span<const Interval> calls = std::span(pipeline.calls).subspan(pipeline.warmup_count);
  Waits waits = {calls, {calls.begin(), calls.end()}, {}};
  waits.of_calls.reserve(calls.size());
  for (const Interval call : calls) waits.of_calls.push_back(call.end - call.start);
  if (pipeline.remade && !calls.empty()) {
    for (const Interval wait : pipeline.remade->between_calls) {
      if (wait.start >= calls.front().start) waits.spans.push_back(wait);
    }
  }
  if (!calls.empty()) {
    for (const Interval frame : pipeline.next_frames) {
      if (frame.end > calls.front().start) waits.spans.push_back(frame);
    }
  }
  waits.spans = merged(std::move(waits.spans));
  if (waits_beside_calls(pipeline)) share_out(waits);
  return waits;
}

/// The waits in each marked step that holds a call, and the length of the step.
std::vector<Beat> beats_of_steps(std::span<const StepMarker> steps, const Waits& waits) {
  std::vector<Beat> beats;
  for (const StepMarker& step : steps) {
    const auto first = std::partition_point(waits.calls.begin(), waits.calls.end(),
                                            [&](Interval call) { return call.start < step.start; });
    if (step.duration <= 0 || first == waits.calls.end() || first->start >= step.end()) continue;
    std::vector<Interval> inside;
    clip({step.start, step.end()}, waits.spans, inside);
    beats.push_back({total_length(inside), step.duration});
  }
  return beats;
}

/// Whether steps of the job that were not traced lie between those that were. Only session runs of TF1 are traced one
/// by one: every one, and then what passes between two is the training loop's own time, or one now and then, and then
/// the pauses are longer than the runs and say nothing about a step.
bool has_untraced_steps(const Trace& trace) {
  if (trace.lanes_are_threads || trace.steps.size() < 2) return false;
  std::vector<Picoseconds> runs;
  std::vector<Picoseconds> pauses;
  for (std::size_t index = 0; index < trace.steps.size(); ++index) {
    runs.push_back(trace.steps[index].duration);
    if (index > 0) pauses.push_back(trace.steps[index].start - trace.steps[index - 1].end());
  }
  return median(pauses) > median(runs);
}

/// Whether `call` is the first one after the pipeline was made anew.
bool begins_iteration(const PipelineMeasurement& pipeline, std::size_t call) {
  return std::binary_search(pipeline.iteration_starts.begin(), pipeline.iteration_starts.end(), call);
}

/// What the consumer does after each steady call but the last, until it calls again. What it does between two epochs
/// (an evaluation, a checkpoint) is not a step, so there it counts as if it had gone on as usual; but where the
/// pipeline is made anew for every step or two, that time is all there is.
std::vector<Picoseconds> gaps_after(const PipelineMeasurement& pipeline, const Waits& waits) {
  std::vector<Picoseconds> gaps;
  std::vector<Picoseconds> within_epochs;
  gaps.reserve(waits.calls.size());
  within_epochs.reserve(waits.calls.size());
  for (std::size_t index = 0; index + 1 < waits.calls.size(); ++index) {
    gaps.push_back(std::max<Picoseconds>(0, waits.calls[index + 1].start - waits.calls[index].end));
    if (!begins_iteration(pipeline, pipeline.warmup_count + index + 1)) within_epochs.push_back(gaps.back());
  }
  if (2 * within_epochs.size() < gaps.size()) return gaps;
  const Picoseconds usual = median(within_epochs);
  for (const std::size_t start : pipeline.iteration_starts) {
    if (start <= pipeline.warmup_count) continue;
    Picoseconds& gap = gaps[start - pipeline.warmup_count - 1];
    gap = std::min(gap, usual);
  }
  return gaps;
}

/// The steady calls, each with the time until the next one.
std::vector<Beat> beats_of_calls(const Trace& trace, const PipelineMeasurement& pipeline, const Waits& waits) {
  std::vector<Picoseconds> gaps = gaps_after(pipeline, waits);
  if (gaps.empty()) return {};
  // What the consumer did after the last call lies after the window. In a short one that call must not be lost: it may
  // be the first that waited. So it counts as if the consumer had gone on as usual.
  gaps.push_back(median(gaps));
  // What it dispatched goes on when it is done with the last step: a step takes as long as its results.
  const Picoseconds ahead = work_after(trace.program_runs, waits.calls.back().end + gaps.back());
  for (Picoseconds& gap : gaps) gap += ahead / static_cast<Picoseconds>(gaps.size());
  std::vector<Beat> beats;
  beats.reserve(waits.calls.size());
  for (std::size_t index = 0; index < waits.calls.size(); ++index) {
    const Interval call = waits.calls[index];
    // Calls of several consumers may overlap: what passes is counted once.
    const bool overlaps = index + 1 < waits.calls.size() && waits.calls[index + 1].start < call.end;
    const Picoseconds passed = overlaps ? waits.calls[index + 1].start - call.start : call.end - call.start;
    beats.push_back({waits.of_calls[index], passed + gaps[index], pipeline.warmup_count + index});
  }
  return beats;
}

/// Parts of the time that is waited: of all beats, and without the slowest of them.
struct Shares {
  bool has_cadence = false;
  std::optional<double> of_steps;  ///< of the marked steps' time; nothing without steps
  CadenceShare all;
  CadenceShare trimmed;
};

Shares shares_of(const Trace& trace, std::span<const StepMarker> markers, const PipelineMeasurement& pipeline,
                 const Waits& waits) {
  const std::vector<Beat> steps = beats_of_steps(markers, waits);
  std::vector<Beat> beats = beats_of_calls(trace, pipeline, waits);
  if (!steps.empty() && has_untraced_steps(trace)) beats = steps;
  Shares shares;
  if (!steps.empty()) shares.of_steps = share_of(steps).share;
  // A TF1 timeline of one call is one session run, so its window is a step.
  shares.has_cadence = !beats.empty() || shares.of_steps || (!waits.calls.empty() && !trace.lanes_are_threads);
  if (beats.empty() && shares.of_steps) {
    shares.all.share = shares.trimmed.share = *shares.of_steps;
    return shares;
  }
  if (beats.empty() && !waits.calls.empty()) {
    const Picoseconds window = std::max<Picoseconds>(trace.window.end - trace.window.start, 1);
    beats.push_back({waits.of_calls.front(), window, pipeline.warmup_count});
  }
  shares.all = shares.trimmed = share_of(beats);
  constexpr std::size_t kFewestToTrim = 4;  // of fewer, the others say too little alone
  if (beats.size() < kFewestToTrim) return shares;
  std::sort(beats.begin(), beats.end(), [](const Beat& a, const Beat& b) {
    return a.latency != b.latency ? a.latency < b.latency : a.period < b.period;
  });
  shares.trimmed = share_of(std::span(beats).first(beats.size() - kSetAside));
  if (beats.back().call != Beat::kNoCall) shares.trimmed.without_call = beats.back().call;
  return shares;
}

Picoseconds trimmed_mean(std::vector<Picoseconds> latencies) {
  constexpr std::size_t kFewestToTrim = 5;  // of fewer, the others say too little alone
  std::sort(latencies.begin(), latencies.end());
  if (latencies.size() >= kFewestToTrim) latencies.resize(latencies.size() - kSetAside);
  if (latencies.empty()) return 0;
  return std::accumulate(latencies.begin(), latencies.end(), Picoseconds{0}) /
         static_cast<Picoseconds>(latencies.size());
}

/// Whether calls like the first of these, at least half as long, come again after shorter ones: then it is one of the
/// job's stalls.
bool comes_again(std::span<const Picoseconds> latencies) {
  const auto is_alike = [&](Picoseconds latency) { return latency >= latencies.front() / 2; };
  const auto shorter = std::find_if_not(latencies.begin(), latencies.end(), is_alike);
  return static_cast<std::size_t>(std::count_if(shorter, latencies.end(), is_alike)) >= kCallsThatRepeat;
}

}  // namespace

std::size_t count_warmup_calls(std::span<const Picoseconds> latencies, bool pipeline_starts_in_window) {
  if (latencies.size() == 2) {
    return pipeline_starts_in_window && latencies[0] > kWarmupFactor * latencies[1] ? 1 : 0;
  }
  if (latencies.size() < 3) return 0;
  // At least two steady calls remain.
  const std::size_t most = std::min(kMostWarmupCalls, latencies.size() - 2);
  std::size_t count = 0;
  for (; count < most && latencies[count] > kShortestWarmup; ++count) {
    const std::span<const Picoseconds> rest = latencies.subspan(count + 1);
    if (latencies[count] / kWarmupFactor <= median(rest)) break;
    if (comes_again(latencies.subspan(count))) break;
  }
  return count;
}

void measure_cadence(const Trace& trace, std::span<const StepMarker> markers, PipelineMeasurement& pipeline) {
  std::vector<Picoseconds> latencies;
  latencies.reserve(pipeline.calls.size());
  for (const Interval call : pipeline.calls) latencies.push_back(call.end - call.start);
  for (const Picoseconds latency : latencies) {
    pipeline.total += latency;
    pipeline.max = std::max(pipeline.max, latency);
    if (latency > kSlowCall) ++pipeline.slow_count;
  }
  pipeline.p95 = quantile(latencies, 0.95);
  latencies.erase(latencies.begin(), latencies.begin() + static_cast<std::ptrdiff_t>(pipeline.warmup_count));
  pipeline.median = median(latencies);
  pipeline.trimmed_mean = trimmed_mean(std::move(latencies));
  const Interval call = pipeline.calls.size() == 1 ? pipeline.calls.front() : Interval{};
  pipeline.is_one_step = pipeline.calls.size() == 1 && trace.lanes_are_threads &&
                         std::any_of(markers.begin(), markers.end(), [&](const StepMarker& step) {
                           return step.start <= call.start && call.end <= step.end();
                         });
  const Shares shares = shares_of(trace, markers, pipeline, whole_waits(pipeline));
  pipeline.has_cadence = shares.has_cadence;
  pipeline.step_share = shares.of_steps;
  pipeline.cadence = shares.all;
  pipeline.trimmed_cadence = shares.trimmed;
}

void measure_exposed_waits(const Trace& trace, std::span<const StepMarker> markers, std::span<const Interval> computing,
                           PipelineMeasurement& pipeline) {
  Waits waits = whole_waits(pipeline);
  if (waits.spans.empty()) return;  // also where every call took no time at all
  const Interval window = {waits.spans.front().start, waits.spans.back().end};
  const std::vector<Interval> idle = gaps_in(window, computing);
  waits.spans = intersected(waits.spans, idle);
  const bool is_shared_out = waits_beside_calls(pipeline);
  if (is_shared_out) share_out(waits);
  for (std::size_t index = 0; index < waits.calls.size() && !is_shared_out; ++index) {
    std::vector<Interval> exposed;
    clip(waits.calls[index], idle, exposed);
    waits.of_calls[index] = total_length(exposed);
  }
  const Shares shares = shares_of(trace, markers, pipeline, waits);
  pipeline.exposed = {shares.all, shares.trimmed, total_length(waits.spans)};
}

}  // namespace doctor
