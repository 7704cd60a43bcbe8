#include "base/intervals.h"
#include "measure/host_choice.h"
#include "measure/steps/step_table.h"
#include "report/json_values.h"
#include "report/page.h"
#include "report/problem.h"
#include "report/report.h"

namespace doctor {
namespace {

constexpr std::size_t kMostSlices = 20'000;       ///< of a track with one for each call or step
constexpr std::size_t kMostAnnotationRows = 8;    ///< tracks side by side for what overlaps
constexpr std::size_t kMostAnnotatedCalls = 500;  ///< slow ones of a pipeline, of which it is drawn who held them when
constexpr std::size_t kArrowedCalls = 12;         ///< the longest calls of a pipeline
constexpr std::size_t kMostFindings = 100;

// Reserved colours of chrome://tracing.
constexpr std::string_view kWaits = "bad";
constexpr std::string_view kStalls = "terrible";
constexpr std::string_view kRuns = "good";
constexpr std::string_view kOther = "grey";

std::string microseconds(Picoseconds time) {
  return fmt::format("{}", to_microseconds(time));
}

/// Slices that may overlap, put into as few rows as hold them. They must come in order of start.
class Rows {
 public:
  /// The row that takes the slice; nothing if there would be too many.
  std::optional<std::size_t> add(Interval span) {
    std::size_t row = 0;
    while (row < ends_.size() && ends_[row] > span.start) ++row;
    if (row == kMostAnnotationRows) return std::nullopt;
    if (row == ends_.size()) ends_.push_back(0);
    ends_[row] = span.end;
    return row;
  }

 private:
  std::vector<Picoseconds> ends_;
};

/// "2 waiting for input, pipeline 0:0", with a number where several tracks share the name.
std::string name_of_row(const std::string& name, std::size_t row) {
  return row == 0 ? name : fmt::format("{} ({})", name, row + 1);
}

/// The tracks of one pipeline of a host: its calls, and for each stage when they wait for it.
class PipelineTracks {
 public:
  explicit PipelineTracks(const PipelineView& view) : view_(view) {
    for (const TimelineWindow& window : view.pipeline.timelines) {
      for (const WindowCall& call : window.calls) details_.emplace(call.number, &call);
    }
  }

  void add_to(AnnotationGroup& group) {
    add_calls();
    for (AnnotationTrack& track : calls_) group.tracks.push_back(std::move(track));
    add_stages(group);
    add_arrows(group);
  }

 private:
  using StageRow = std::pair<IteratorId, std::size_t>;

  void add_calls() {
    const std::vector<Interval>& calls = view_.pipeline.calls;
    const std::string name = "2 waiting for input, pipeline " + pipeline_id(view_);
    Rows rows;
    std::size_t left_out = 0;
    for (std::size_t index = 0; index < calls.size(); ++index) {
      const std::optional<std::size_t> row = index < kMostSlices ? rows.add(calls[index]) : std::nullopt;
      if (!row) {
        ++left_out;
        continue;
      }
      if (*row == calls_.size()) calls_.push_back({name_of_row(name, *row), {}, {}});
      rows_[index + 1] = *row;
      calls_[*row].slices.push_back(slice_of_call(index));
    }
    if (left_out > 0 && !calls_.empty()) calls_.front().name += fmt::format(" ({} left out)", format_count(left_out));
  }

  AnnotationSlice slice_of_call(std::size_t index) const {
    const Interval span = view_.pipeline.calls[index];
    const bool is_stall = view_.pipeline.stalls && index >= view_.pipeline.warmup_count &&
                          span.end - span.start >= view_.pipeline.stalls->shortest;
    AnnotationSlice slice{span, is_stall ? "stall" : "GetNext", is_stall ? kStalls : kWaits, {}};
    slice.arguments.emplace_back("call", std::to_string(index + 1));
    slice.arguments.emplace_back("latency_us", microseconds(span.end - span.start));
    if (index < view_.pipeline.warmup_count) slice.arguments.emplace_back("warmup", "true");
    const auto detail = details_.find(index + 1);
    if (detail != details_.end()) slice.arguments.emplace_back("held_by", words_of_holders(*detail->second));
    return slice;
  }

  /// "Dataset.map 87%, Dataset.batch 12%": the three that held most.
  std::string words_of_holders(const WindowCall& call) const {
    const std::span most = std::span(call.held_by).first(std::min<std::size_t>(3, call.held_by.size()));
    return joined(most, ", ", [&](const HeldTime& held) {
      const double share = share_of_time(held.time, std::max<Picoseconds>(1, call.latency()));
      return fmt::format("{} {}",
                         held.iterator == kNoIterator ? "outside of tf.data" : describe(view_.host, held.iterator),
                         format_share(share));
    });
  }

  /// A track for each stage that holds a call, the loop's side first.
  void add_stages(AnnotationGroup& group) {
    std::map<StageRow, AnnotationTrack> tracks;
    for (const auto& [number, call] : details_) {
      const auto row = rows_.find(number);
      if (row == rows_.end()) continue;
      for (const Segment& stretch : call->stretches) {
        AnnotationTrack& track = tracks[{stretch.iterator, row->second}];
        track.slices.push_back(slice_of(stretch));
      }
    }
    std::vector<IteratorId> stages = members_in_code_order(view_.host, view_.pipeline);
    std::ranges::reverse(stages);
    stages.insert(stages.begin(), kNoIterator);
    for (const IteratorId stage : stages) {
      for (auto track = tracks.lower_bound({stage, 0}); track != tracks.end() && track->first.first == stage; ++track) {
        const std::string name = stage == kNoIterator ? "outside of tf.data" : describe(view_.host, stage);
        track->second.name = name_of_row(fmt::format("waiting for {}", name), track->first.second);
        places_[track->first] = group.tracks.size();
        group.tracks.push_back(std::move(track->second));
      }
    }
  }

  AnnotationSlice slice_of(const Segment& stretch) const {
    const std::string stage =
        stretch.iterator == kNoIterator ? "what is outside of tf.data" : describe(view_.host, stretch.iterator);
    const bool is_culprit = stretch.iterator != kNoIterator && stretch.iterator == view_.judgement.culprit;
    AnnotationSlice slice{stretch.span, {}, is_culprit ? kStalls : kWaits, {}};
    switch (stretch.kind) {
      case SegmentKind::self:
      case SegmentKind::outside:
        slice.name = "loop waits for " + stage;
        break;
      case SegmentKind::function:
        slice.name = "loop waits for the function of " + stage;
        break;
      case SegmentKind::handoff:
        slice.name = "hand-over between threads";
        slice.colour = kOther;
        break;
      case SegmentKind::unseen:
        slice.name = "not visible in the window";
        slice.colour = kOther;
        break;
    }
    slice.arguments.emplace_back("kind", to_word(stretch.kind));
    slice.arguments.emplace_back("duration_us", microseconds(stretch.span.end - stretch.span.start));
    slice.arguments.emplace_back("thread", view_.host.threads[index_of(stretch.lane)]);
    if (stretch.iterator != kNoIterator) {
      slice.arguments.emplace_back("long_name", view_.host.iterators[stretch.iterator].long_name);
    }
    return slice;
  }

  /// From stage to stage, where one of the longest calls passes from one to the other.
  void add_arrows(AnnotationGroup& group) const {
    std::vector<const WindowCall*> longest;
    for (const auto& [number, call] : details_) longest.push_back(call);
    std::ranges::stable_sort(longest,
                             [](const WindowCall* a, const WindowCall* b) { return a->latency() > b->latency(); });
    longest.resize(std::min(longest.size(), kArrowedCalls));
    for (const WindowCall* const call : longest) {
      const auto row = rows_.find(call->number);
      for (std::size_t index = 1; row != rows_.end() && index < call->stretches.size(); ++index) {
        const Segment& from = call->stretches[index - 1];
        const Segment& to = call->stretches[index];
        if (from.iterator == to.iterator) continue;
        // Inside of the slice that it begins in: viewers bind an arrow to what is there.
        const Picoseconds lead = std::min(kPicosecondsPerMicrosecond, (from.span.end - from.span.start + 1) / 2);
        group.arrows.push_back({places_.at({from.iterator, row->second}), from.span.end - lead,
                                places_.at({to.iterator, row->second}), to.span.start});
      }
    }
  }

  const PipelineView& view_;
  std::map<std::size_t, const WindowCall*> details_;   ///< by number: those of which it is known who held them
  std::unordered_map<std::size_t, std::size_t> rows_;  ///< of the calls that are drawn, by number
  std::vector<AnnotationTrack> calls_;
  std::map<StageRow, std::size_t> places_;  ///< in AnnotationGroup::tracks
};

/// When the job waits for any pipeline, and runs.
AnnotationTrack loop_track(const HostMeasurement& host) {
  AnnotationTrack track{"1 training loop", {}, {}};
  const std::vector<Interval> waits = waits_of(host);
  for (std::size_t index = 0; index < std::min(waits.size(), kMostSlices); ++index) {
    if (index > 0) track.slices.push_back({{waits[index - 1].end, waits[index].start}, "runs", kRuns, {}});
    track.slices.push_back({waits[index], "waits for input", kWaits, {}});
  }
  if (waits.size() > kMostSlices)
    track.name += fmt::format(" ({} waits left out)", format_count(waits.size() - kMostSlices));
  return track;
}

void add_steps(const HostMeasurement& host, AnnotationGroup& group) {
  std::vector<AnnotationTrack> tracks;
  Rows rows;
  std::size_t left_out = 0;
  for (const MarkedStep& step : marked_steps(host)) {
    const std::optional<std::size_t> row = tracks.size() <= kMostAnnotationRows ? rows.add(step.span) : std::nullopt;
    if (!row || (*row < tracks.size() && tracks[*row].slices.size() == kMostSlices)) {
      ++left_out;
      continue;
    }
    if (*row == tracks.size()) tracks.push_back({name_of_row("steps", *row), {}, {}});
    AnnotationSlice slice{step.span, "step", kOther, {}};
    if (step.number) slice.arguments.emplace_back("number", std::to_string(*step.number));
    tracks[*row].slices.push_back(std::move(slice));
  }
  if (left_out > 0 && !tracks.empty()) tracks.front().name += fmt::format(" ({} left out)", format_count(left_out));
  for (AnnotationTrack& track : tracks) group.tracks.push_back(std::move(track));
}

/// Where the finding is seen best: where its subject holds a call for longest, else the longest call.
Picoseconds moment_of(const Finding& finding, const HostMeasurement& host, const PipelineMeasurement* pipeline) {
  if (pipeline == nullptr || pipeline->calls.empty()) return host.window_start;
  for (const IteratorId member : pipeline->members) {
    const Sighting& held = pipeline->steady.longest_held[member];
    if (host.iterators[member].long_name == finding.subject && held.duration() > 0) return held.span.start;
  }
  return pipeline->calls[pipeline->slowest].start;
}

/// The findings about this host; those about the run as a whole are the first host's.
AnnotationTrack findings_track(const Measurements& measurements, const Diagnosis& diagnosis, std::size_t host) {
  AnnotationTrack track{"findings", {}, {}};
  for (const Finding& finding : diagnosis.findings) {
    if (finding.host.value_or(0) != host || track.moments.size() == kMostFindings) continue;
    const PipelineMeasurement* pipeline = nullptr;
    if (finding.pipeline) {
      const PipelineJudgement& judged = diagnosis.judgement.pipelines[*finding.pipeline];
      if (judged.host == host) pipeline = &measurements.hosts[host].pipelines[judged.pipeline];
    }
    const Picoseconds time = moment_of(finding, measurements.hosts[host], pipeline);
    AnnotationSlice moment{{time, time}, finding.rule, kStalls, {}};
    moment.arguments.emplace_back("severity", std::string(to_word(finding.severity)));
    moment.arguments.emplace_back("message", finding.message);
    if (!finding.advice.empty()) {
      moment.arguments.emplace_back("fix", finding.advice.front().code.value_or(finding.advice.front().text.action));
    }
    track.moments.push_back(std::move(moment));
  }
  std::ranges::stable_sort(
      track.moments, [](const AnnotationSlice& a, const AnnotationSlice& b) { return a.span.start < b.span.start; });
  return track;
}

/// How full the buffers of a pipeline were, as the events of its iterators say.
void add_buffers(const HostMeasurement& host, AnnotationGroup& group) {
  std::map<std::string, std::size_t> count_by_name;
  for (std::size_t id = 0; id < host.iterators.size() && group.counters.size() < kMostTimelineStages; ++id) {
    for (const AttributeHistory& attribute : host.iterators[id].history.attributes) {
      // Of others than Prefetch buffer_size is the limit.
      const bool is_prefetch = host.iterators[id].has(Trait::prefetch);
      if (attribute.name != "buffered_elements" && !(is_prefetch && attribute.name == "buffer_size")) continue;
      if (attribute.changes.empty()) continue;
      const std::string name = "elements in the buffer of " + describe(host, static_cast<IteratorId>(id));
      AnnotationCounter counter{name_of_row(name, count_by_name[name]++), {}};
      if (attribute.first.number) {
        counter.values.emplace_back(host.window_start, static_cast<double>(*attribute.first.number));
      }
      for (const AttributeChange& change : attribute.changes) {
        if (change.value.number) counter.values.emplace_back(change.time, static_cast<double>(*change.value.number));
      }
      group.counters.push_back(std::move(counter));
    }
  }
}

/// The verdict is that of a run; the group of one of its hosts says what that host does.
std::string title_of_host(const HostMeasurement& host, const std::string& name,
                          const std::vector<PipelineView>& pipelines) {
  const auto worst = std::ranges::find_if(
      pipelines, [&](const PipelineView& view) { return &view.host == &host && !view.pipeline.feeds_another; });
  const std::optional<double> share = worst == pipelines.end() ? std::nullopt : input_share_of(*worst);
  if (!share) return "tfdata-doctor: " + name;
  return fmt::format("tfdata-doctor: {} waits for input {} of the time", name, format_share(*share));
}

}  // namespace

TraceNeeds annotation_needs() {
  return {.attribute_history = true, .timeline = CallRequest{.longest = kMostAnnotatedCalls}};
}

std::vector<AnnotationGroup> annotations_of(const Measurements& measurements, const Diagnosis& diagnosis) {
  std::vector<AnnotationGroup> groups;
  const std::vector<PipelineView> pipelines = pipelines_of(measurements, diagnosis.judgement);
  const std::vector<std::string> host_names = names_of_hosts(measurements);
  for (std::size_t index = 0; index < measurements.hosts.size(); ++index) {
    const HostMeasurement& host = measurements.hosts[index];
    AnnotationGroup group;
    group.title = measurements.hosts.size() > 1
                      ? title_of_host(host, host_names[index], pipelines)
                      : fmt::format("tfdata-doctor: {}", verdict_words(diagnosis.judgement.status));
    group.file = host.files.front().path;
    group.origin_ns = host.origin_ns;
    AnnotationTrack findings = findings_track(measurements, diagnosis, index);
    if (!findings.moments.empty()) group.tracks.push_back(std::move(findings));
    if (!host.pipelines.empty()) group.tracks.push_back(loop_track(host));
    for (const PipelineView& view : pipelines) {
      if (&view.host == &host && !view.pipeline.timelines.empty()) PipelineTracks(view).add_to(group);
    }
    add_steps(host, group);
    add_buffers(host, group);
    if (!group.tracks.empty()) groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace doctor
