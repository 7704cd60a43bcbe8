#include "base/ranks.h"
#include "measure/steps/step_table.h"
#include "measure/timeline/timeline_recording.h"

namespace doctor {
namespace {

Picoseconds latency_of(const PipelineMeasurement& pipeline, std::size_t call) {
  return pipeline.calls[call].end - pipeline.calls[call].start;
}

/// The steps of a pipeline that may be drawn: each from a steady call to the next one of the same iteration.
class SteadySteps {
 public:
  explicit SteadySteps(const PipelineMeasurement& pipeline) : calls_(pipeline.calls) {
    Picoseconds waits_until = calls_.empty() ? 0 : calls_.front().start;
    for (std::size_t call = 0; call + 1 < calls_.size(); ++call) {
      waits_until = std::max(waits_until, calls_[call].end);
      const Picoseconds end = calls_[call + 1].start;
      const bool is_step =
          call >= pipeline.warmup_count &&
          !std::binary_search(pipeline.iteration_starts.begin(), pipeline.iteration_starts.end(), call + 1);
      waited_until_.push_back(waited_until_.back() + std::min(waits_until, end) - calls_[call].start);
      in_a_row_.push_back(is_step ? (in_a_row_.empty() ? 0 : in_a_row_.back()) + 1 : 0);
      if (!is_step) continue;
      all_.waited += waited_until_.back() - waited_until_[call];
      all_.passed += end - calls_[call].start;
      lengths_.push_back(end - calls_[call].start);
    }
    if (!lengths_.empty()) usual_ = quantile(lengths_, 0.5);
  }

  /// The calls that begin the most typical steps: those in a row that differ least from all steps in their share of
  /// waiting, and from as many median ones in their length. Empty without a step.
  std::vector<std::size_t> most_typical() const {
    if (all_.passed <= 0) return {};
    const std::size_t most = *std::max_element(in_a_row_.begin(), in_a_row_.end());
    const std::size_t count = std::min(most, kMostTypicalSteps);
    std::optional<std::size_t> best;
    double smallest = 0;
    for (std::size_t last = 0; last < in_a_row_.size(); ++last) {
      if (in_a_row_[last] < count) continue;
      const Total window = total(last + 1 - count, count);
      const double distance = std::abs(window.share() - all_.share()) + length_distance(window.passed, count);
      if (best && distance >= smallest) continue;
      best = last + 1 - count;
      smallest = distance;
    }
    std::vector<std::size_t> calls(count);
    std::iota(calls.begin(), calls.end(), best.value_or(0));
    return calls;
  }

 private:
  struct Total {
    Picoseconds waited = 0;
    Picoseconds passed = 0;

    double share() const { return passed > 0 ? static_cast<double>(waited) / static_cast<double>(passed) : 0; }
  };

  /// How far the length of so many steps is from that of median ones, as the part that the shorter of the two lacks of
  /// the longer: 0 of the same length.
  double length_distance(Picoseconds passed, std::size_t count) const {
    const auto usual = static_cast<double>(usual_) * static_cast<double>(count);
    const auto length = static_cast<double>(passed);
    return usual > 0 && length > 0 ? 1 - std::min(usual, length) / std::max(usual, length) : 0;
  }

  Total total(std::size_t first, std::size_t count) const {
    return {waited_until_[first + count] - waited_until_[first], calls_[first + count].start - calls_[first].start};
  }

  const std::vector<Interval>& calls_;
  std::vector<Picoseconds> waited_until_{0};  ///< waiting in all steps before that of this call
  std::vector<std::size_t> in_a_row_;         ///< indexed by call: of how many steps in a row its step is the last
  std::vector<Picoseconds> lengths_;          ///< of all steps
  Picoseconds usual_ = 0;                     ///< their median
  Total all_;
};

/// The earliest of the steady calls of median latency; of all calls where none is steady.
std::size_t median_call(const PipelineMeasurement& pipeline) {
  const std::size_t first = pipeline.warmup_count < pipeline.calls.size() ? pipeline.warmup_count : 0;
  std::vector<Picoseconds> latencies;
  for (std::size_t call = first; call < pipeline.calls.size(); ++call) latencies.push_back(latency_of(pipeline, call));
  const auto median = std::find(latencies.begin(), latencies.end(), quantile(latencies, 0.5));
  return first + static_cast<std::size_t>(median - latencies.begin());
}

/// The slow calls, longest first; the longest call if none is slow.
std::vector<std::size_t> longest_calls(const PipelineMeasurement& pipeline, std::size_t most) {
  std::vector<std::size_t> calls(pipeline.calls.size());
  std::iota(calls.begin(), calls.end(), std::size_t{0});
  const std::size_t count = std::min({std::max<std::size_t>(pipeline.slow_count, 1), most, calls.size()});
  std::partial_sort(calls.begin(), calls.begin() + static_cast<std::ptrdiff_t>(count), calls.end(),
                    [&](std::size_t a, std::size_t b) {
                      const Picoseconds of_a = latency_of(pipeline, a);
                      const Picoseconds of_b = latency_of(pipeline, b);
                      return of_a != of_b ? of_a > of_b : a < b;
                    });
  calls.resize(count);
  return calls;
}

/// Adds the calls that overlap the window and are not in it, as far as it may have more. The calls of a pipeline are in
/// the order of their starts.
void add_overlapping(const PipelineMeasurement& pipeline, ChosenWindow& window) {
  std::vector<std::size_t> calls;
  for (std::size_t call = 0; call < pipeline.calls.size() && pipeline.calls[call].start < window.span.end; ++call) {
    if (pipeline.calls[call].end > window.span.start) calls.push_back(call);
  }
  const std::size_t excess = calls.size() - std::min(calls.size(), kMostTimelineCalls);
  window.calls_left_out = excess;
  // A window of a call ends with it; a step is shown from its start.
  const bool keeps_last = window.kind != WindowKind::step;
  const auto first = keeps_last ? calls.begin() + static_cast<std::ptrdiff_t>(excess) : calls.begin();
  window.calls.assign(first, first + static_cast<std::ptrdiff_t>(calls.size() - excess));
}

/// Where the earliest of the calls begins that a window which ends with this one can have.
Picoseconds earliest_start(const PipelineMeasurement& pipeline, std::size_t call) {
  if (call < kMostTimelineCalls) return 0;
  return pipeline.calls[call - kMostTimelineCalls].end;
}

/// A call and as much before it as it lasts, with the calls of that time: the work that was under way.
ChosenWindow with_lead(WindowKind kind, const HostMeasurement& host, const PipelineMeasurement& pipeline,
                       std::size_t call) {
  const Interval span = pipeline.calls[call];
  const Picoseconds from = std::max(host.window_start, earliest_start(pipeline, call));
  const Picoseconds lead = std::min(span.end - span.start, span.start - std::min(span.start, from));
  ChosenWindow window{kind, static_cast<std::int64_t>(call) + 1, {span.start - lead, span.end}, {}, 0, true};
  add_overlapping(pipeline, window);
  return window;
}

std::vector<ChosenWindow> window_of_step(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                                         std::int64_t number) {
  const std::vector<MarkedStep> steps = marked_steps(host);
  const auto step =
      std::find_if(steps.begin(), steps.end(), [&](const MarkedStep& marked) { return marked.number == number; });
  if (step == steps.end()) return {};
  ChosenWindow window{WindowKind::step, number, step->span, {}, 0, true};
  add_overlapping(pipeline, window);
  return {window};
}

std::vector<ChosenWindow> usual_windows(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                                        std::size_t most_calls) {
  std::vector<ChosenWindow> windows;
  if (const std::vector<std::size_t> steps = SteadySteps(pipeline).most_typical(); !steps.empty()) {
    const Interval span{pipeline.calls[steps.front()].start, pipeline.calls[steps.back() + 1].start};
    windows.push_back({WindowKind::typical_steps, static_cast<std::int64_t>(steps.front()) + 1, span, {}, 0, true});
    add_overlapping(pipeline, windows.back());
  }
  windows.push_back(with_lead(WindowKind::median_call, host, pipeline, median_call(pipeline)));
  bool has_lanes = true;
  for (const std::size_t call : longest_calls(pipeline, most_calls)) {
    windows.push_back({WindowKind::longest_call,
                       static_cast<std::int64_t>(call) + 1,
                       pipeline.calls[call],
                       {call},
                       0,
                       std::exchange(has_lanes, false)});
  }
  return windows;
}

}  // namespace

std::vector<ChosenWindow> choose_windows(const HostMeasurement& host, const PipelineMeasurement& pipeline,
                                         const CallRequest& request) {
  if (pipeline.calls.empty()) return {};
  if (request.step) return window_of_step(host, pipeline, *request.step);
  if (!request.number) return usual_windows(host, pipeline, request.longest.value_or(kMostTimelineCalls));
  if (*request.number < 1 || *request.number > pipeline.calls.size()) return {};
  return {with_lead(WindowKind::call, host, pipeline, *request.number - 1)};
}

}  // namespace doctor
