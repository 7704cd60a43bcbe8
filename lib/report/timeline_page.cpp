#include "base/try.h"
#include "measure/steps/step_table.h"
#include "report/json_values.h"
#include "report/page.h"

namespace doctor {
namespace {

/// By iterator: how long it held calls and worked, over all windows.
std::unordered_map<IteratorId, Picoseconds> weights(const std::vector<TimelineWindow>& windows) {
  std::unordered_map<IteratorId, Picoseconds> times;
  for (const TimelineWindow& window : windows) {
    for (const WindowCall& call : window.calls) {
      for (const HeldTime& held : call.held_by) times[held.iterator] += held.time;
    }
    for (const TimelineLane& lane : window.lanes) times[lane.iterator] += lane.time;
  }
  return times;
}

PipelineTimeline timeline_of(const PipelineView& view) {
  std::vector<IteratorId> stages = members_in_code_order(view.host, view.pipeline);
  if (stages.size() <= kMostTimelineStages) return {view, std::move(stages), 0};
  std::unordered_map<IteratorId, Picoseconds> times = weights(view.pipeline.timelines);
  std::vector<IteratorId> heaviest = stages;
  std::ranges::stable_sort(heaviest, [&](IteratorId a, IteratorId b) { return times[a] > times[b]; });
  const std::set<IteratorId> kept(heaviest.begin(), heaviest.begin() + kMostTimelineStages);
  const std::size_t left_out = stages.size() - kept.size();
  std::erase_if(stages, [&](IteratorId stage) { return !kept.contains(stage); });
  return {view, std::move(stages), left_out};
}

Unexpected no_such_step(const std::vector<PipelineView>& pipelines, std::size_t number) {
  std::optional<std::int64_t> first;
  std::optional<std::int64_t> last;
  for (const PipelineView& view : pipelines) {
    for (const MarkedStep& step : marked_steps(view.host)) {
      if (!step.number) continue;
      first = std::min(first.value_or(*step.number), *step.number);
      last = std::max(last.value_or(*step.number), *step.number);
    }
  }
  return fail("no such step", fmt::format("--step {}", number),
              first ? fmt::format("the trace marks steps from {} to {}", *first, *last)
                    : "the trace marks no steps: name a call, --call N");
}

// The words of the schema: they never change.
std::string_view to_word(WindowKind kind) {
  using enum WindowKind;
  return word_of(kind, {{typical_steps, "typical_steps"},
                        {median_call, "median_call"},
                        {longest_call, "longest_call"},
                        {call, "call"},
                        {step, "step"}});
}

std::string_view to_word(LaneWork work) {
  return work == LaneWork::self ? "self" : "function";
}

using StageIndices = std::unordered_map<IteratorId, std::size_t>;

OrderedJson stage_index_json(const StageIndices& indices, IteratorId iterator) {
  const auto found = indices.find(iterator);
  return found == indices.end() ? OrderedJson(nullptr) : OrderedJson(found->second);
}

/// Stages that were left out are one: null.
OrderedJson held_by_json(const WindowCall& call, const StageIndices& indices) {
  OrderedJson entries = OrderedJson::array();
  std::map<SegmentKind, Picoseconds> others;
  const auto add = [&](const OrderedJson& stage, SegmentKind kind, Picoseconds time) {
    entries.push_back({{key::stage, stage},
                       {key::kind, to_word(kind)},
                       {key::time_us, to_microseconds(time)},
                       {key::share, share_of_time(time, std::max<Picoseconds>(call.latency(), 1))}});
  };
  for (const HeldTime& held : call.held_by) {
    if (indices.contains(held.iterator)) {
      add(stage_index_json(indices, held.iterator), held.kind, held.time);
    } else {
      others[held.kind] += held.time;
    }
  }
  for (const auto& [kind, time] : others) add(nullptr, kind, time);
  return entries;
}

OrderedJson timeline_call_json(const HostMeasurement& host, const WindowCall& call, const StageIndices& indices) {
  OrderedJson json = {{key::number, call.number},
                      {key::start_us, to_microseconds(call.span.start - host.window_start)},
                      {key::latency_us, to_microseconds(call.latency())},
                      {key::thread, host.threads[index_of(call.lane)]}};
  json[key::held_by] = held_by_json(call, indices);
  json[key::stretches] = array_of(call.stretches, [&](const Segment& stretch) -> OrderedJson {
    return {{key::start_us, to_microseconds(stretch.span.start - host.window_start)},
            {key::duration_us, to_microseconds(stretch.span.end - stretch.span.start)},
            {key::stage, stage_index_json(indices, stretch.iterator)},
            {key::kind, to_word(stretch.kind)},
            {key::thread, host.threads[index_of(stretch.lane)]}};
  });
  return json;
}

OrderedJson lane_json(const HostMeasurement& host, const TimelineLane& lane, const StageIndices& indices) {
  return {{key::stage, stage_index_json(indices, lane.iterator)},
          {key::thread, host.threads[index_of(lane.lane)]},
          {key::work, to_word(lane.work)},
          {key::time_us, to_microseconds(lane.time)},
          {key::spans, array_of(lane.spans, [&](const LaneSpan& span) -> OrderedJson {
             return {to_microseconds(span.span.start - host.window_start),
                     to_microseconds(span.span.end - span.span.start), to_microseconds(span.work)};
           })}};
}

/// Empty where the thread of the loop takes elements of this pipeline alone.
OrderedJson other_calls_json(const PipelineView& view, const TimelineWindow& window) {
  return array_of(window.other_calls, [&](const OtherCall& call) -> OrderedJson {
    return {{key::start_us, to_microseconds(call.span.start - view.host.window_start)},
            {key::duration_us, to_microseconds(call.span.end - call.span.start)},
            {key::pipeline, pipeline_id(view.judgement, call.root)}};
  });
}

OrderedJson window_json(const PipelineView& view, const TimelineWindow& window, const StageIndices& indices) {
  const HostMeasurement& host = view.host;
  // Lanes are drawn from the source to the loop, whatever the order of the iterators' numbers.
  std::vector<const TimelineLane*> lanes;
  for (const TimelineLane& lane : window.lanes) {
    if (indices.contains(lane.iterator)) lanes.push_back(&lane);
  }
  std::ranges::stable_sort(lanes, [&](const TimelineLane* a, const TimelineLane* b) {
    return indices.at(a->iterator) < indices.at(b->iterator);
  });
  OrderedJson json = {{key::kind, to_word(window.kind)},
                      {key::number, window.number},
                      {key::start_us, to_microseconds(window.span.start - host.window_start)},
                      {key::duration_us, to_microseconds(window.span.end - window.span.start)}};
  json[key::calls] =
      array_of(window.calls, [&](const WindowCall& call) { return timeline_call_json(host, call, indices); });
  json[key::calls_left_out] = window.calls_left_out;
  if (OrderedJson others = other_calls_json(view, window); !others.empty()) json[key::other_calls] = std::move(others);
  json[key::lanes] = array_of(lanes, [&](const TimelineLane* const lane) { return lane_json(host, *lane, indices); });
  json[key::lanes_left_out] = window.lanes_left_out + window.lanes.size() - lanes.size();
  return json;
}

OrderedJson pipeline_timeline_json(const PipelineTimeline& timeline) {
  const HostMeasurement& host = timeline.view.host;
  const IteratorId root = timeline.view.pipeline.root;
  StageIndices indices;
  OrderedJson stages = OrderedJson::array();
  for (const IteratorId id : timeline.stages) {
    const IteratorMeasurement& iterator = host.iterators[id];
    const std::size_t order = indices.size();
    indices[id] = order;
    stages.push_back({{key::long_name, iterator.long_name},
                      {key::short_name, iterator.short_name},
                      {key::name, describe(host, id)},
                      {key::source, source_json(host.iterators[id].line())},
                      {key::order, order},
                      {key::async, iterator.is_async}});
  }
  return {{key::id, pipeline_id(timeline.view)},
          {key::host, host.name()},
          {key::input_share, or_null(input_share_of(timeline.view))},
          {key::root, long_name_json(host, root)},
          {key::stages, std::move(stages)},
          {key::stages_left_out, timeline.stages_left_out},
          {key::windows, array_of(timeline.windows(), [&](const TimelineWindow& window) {
             return window_json(timeline.view, window, indices);
           })}};
}

/// The lines of one window.
void add_csv_window(const PipelineTimeline& timeline, const TimelineWindow& window, DataTable& table) {
  const HostMeasurement& host = timeline.view.host;
  const auto add = [&](std::string_view what, Cell call, const LaneSpan& part, std::string_view kind,
                       IteratorId iterator, LaneId lane) {
    table.rows.push_back({pipeline_id(timeline.view), host.name(), std::string(to_word(window.kind)), window.number,
                          std::string(what), std::move(call), part.span.start - host.window_start,
                          part.span.end - part.span.start, part.work, std::string(kind),
                          iterator == kNoIterator ? std::string() : host.iterators[iterator].long_name,
                          host.threads[index_of(lane)]});
  };
  for (const WindowCall& call : window.calls) {
    for (const Segment& stretch : call.stretches) {
      add("held", count_cell(call.number), {stretch.span, stretch.span.end - stretch.span.start}, to_word(stretch.kind),
          stretch.iterator, stretch.lane);
    }
  }
  for (const TimelineLane& lane : window.lanes) {
    for (const LaneSpan& span : lane.spans) add("worked", {}, span, to_word(lane.work), lane.iterator, lane.lane);
  }
}

OrderedJson timeline_json(const TimelineList& list) {
  OrderedJson page = begun_page("tfdata-doctor.timeline/1");
  page[key::pipelines] = array_of(list.pipelines, pipeline_timeline_json);
  page[key::pipelines_left_out] = list.pipelines_left_out;
  return page;
}

/// A row for each stretch of a call and for each span of a lane.
Result<PageRows> timeline_rows(const PageInput& input) {
  DataTable table = table_with({key::pipeline, key::host, key::window, key::number, key::what, "call", key::start_us,
                                key::duration_us, "work_us", key::kind, key::long_name, key::thread});
  ASSIGN_OR_RETURN(const TimelineList list, choose_timelines(input));
  for (const PipelineTimeline& timeline : list.pipelines) {
    for (const TimelineWindow& window : timeline.windows()) add_csv_window(timeline, window, table);
  }
  return PageRows{std::move(table)};
}

Result<std::string> timeline_text(const PageInput& input) {
  ASSIGN_OR_RETURN(const TimelineList list, choose_timelines(input));
  if (!input.measurements.shows_tf_data()) return "no tf.data iterator in this trace\n";
  return timeline_chart(list, input.options.style);
}

}  // namespace

constinit const Page kTimelinePage = {
    .name = "timeline",
    .summary = "typical steps, or one call or step: when the loop waits for which stage, and when each works",
    .is_drawn = true,
    .needs = [](const ShowOptions& options) { return TraceNeeds{.timeline = options.calls()}; },
    .rows = timeline_rows,
    .text = timeline_text,
    .document = [](const PageInput& input) { return choose_timelines(input).map(timeline_json); }};

Result<TimelineList> choose_timelines(const PageInput& input) {
  const ShowOptions& options = input.options;
  if (options.call && options.step) return fail("a call and a step cannot be shown at once", "--step", "name one");
  TimelineList list;
  if (!input.measurements.shows_tf_data()) return list;
  ASSIGN_OR_RETURN(std::vector<PipelineView> pipelines,
                   choose_pipelines(input.measurements, input.diagnosis.judgement, options.pipeline));
  if (options.call) {
    RETURN_IF_ERROR(check_call_number(pipelines, *options.call));
  }
  for (const PipelineView& view : pipelines) {
    if (options.call && !list.pipelines.empty()) break;
    if (view.pipeline.timelines.empty() || list.pipelines.size() == kMostTimelinePipelines) {
      ++list.pipelines_left_out;
    } else {
      list.pipelines.push_back(timeline_of(view));
    }
  }
  if (options.step && list.pipelines.empty()) return no_such_step(pipelines, *options.step);
  return list;
}

}  // namespace doctor
