#include "report/timeline_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/try.h"
#include "diagnose/user_code.h"
#include "measure/marked_steps.h"
#include "report/calls_page.h"
#include "report/json_values.h"
#include "text/data_table.h"
#include "text/document_keys.h"

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
  std::stable_sort(heaviest.begin(), heaviest.end(), [&](IteratorId a, IteratorId b) { return times[a] > times[b]; });
  const std::set<IteratorId> kept(heaviest.begin(), heaviest.begin() + kMostTimelineStages);
  const std::size_t left_out = stages.size() - kept.size();
  std::erase_if(stages, [&](IteratorId stage) { return !kept.contains(stage); });
  return {view, std::move(stages), left_out};
}

Unexpected no_such_step(const std::vector<PipelineView>& pipelines, std::int64_t number) {
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
    const auto latency = static_cast<double>(std::max<Picoseconds>(call.latency(), 1));
    entries.push_back({{key::stage, stage},
                       {key::kind, to_word(kind)},
                       {key::time_us, to_microseconds(time)},
                       {key::share, static_cast<double>(time) / latency}});
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
  OrderedJson stretches = OrderedJson::array();
  for (const Segment& stretch : call.stretches) {
    stretches.push_back({{key::start_us, to_microseconds(stretch.span.start - host.window_start)},
                         {key::duration_us, to_microseconds(stretch.span.end - stretch.span.start)},
                         {key::stage, stage_index_json(indices, stretch.iterator)},
                         {key::kind, to_word(stretch.kind)},
                         {key::thread, host.threads[index_of(stretch.lane)]}});
  }
  json[key::stretches] = std::move(stretches);
  return json;
}

OrderedJson lane_json(const HostMeasurement& host, const TimelineLane& lane, const StageIndices& indices) {
  OrderedJson spans = OrderedJson::array();
  for (const LaneSpan& span : lane.spans) {
    spans.push_back({to_microseconds(span.span.start - host.window_start),
                     to_microseconds(span.span.end - span.span.start), to_microseconds(span.work)});
  }
  OrderedJson json = {{key::stage, stage_index_json(indices, lane.iterator)},
                      {key::thread, host.threads[index_of(lane.lane)]},
                      {key::work, to_word(lane.work)},
                      {key::time_us, to_microseconds(lane.time)}};
  json[key::spans] = std::move(spans);
  return json;
}

/// Empty where the thread of the loop takes elements of this pipeline alone.
OrderedJson other_calls_json(const PipelineView& view, const TimelineWindow& window) {
  OrderedJson calls = OrderedJson::array();
  for (const OtherCall& call : window.other_calls) {
    calls.push_back({{key::start_us, to_microseconds(call.span.start - view.host.window_start)},
                     {key::duration_us, to_microseconds(call.span.end - call.span.start)},
                     {key::pipeline, pipeline_id(view.judgement, call.root)}});
  }
  return calls;
}

OrderedJson window_json(const PipelineView& view, const TimelineWindow& window, const StageIndices& indices) {
  const HostMeasurement& host = view.host;
  OrderedJson calls = OrderedJson::array();
  for (const WindowCall& call : window.calls) calls.push_back(timeline_call_json(host, call, indices));
  // Lanes are drawn from the source to the loop, whatever the order of the iterators' numbers.
  std::vector<const TimelineLane*> lanes;
  for (const TimelineLane& lane : window.lanes) {
    if (indices.contains(lane.iterator)) lanes.push_back(&lane);
  }
  std::stable_sort(lanes.begin(), lanes.end(), [&](const TimelineLane* a, const TimelineLane* b) {
    return indices.at(a->iterator) < indices.at(b->iterator);
  });
  OrderedJson drawn = OrderedJson::array();
  for (const TimelineLane* const lane : lanes) drawn.push_back(lane_json(host, *lane, indices));
  OrderedJson json = {{key::kind, to_word(window.kind)},
                      {key::number, window.number},
                      {key::start_us, to_microseconds(window.span.start - host.window_start)},
                      {key::duration_us, to_microseconds(window.span.end - window.span.start)}};
  json[key::calls] = std::move(calls);
  json[key::calls_left_out] = window.calls_left_out;
  if (OrderedJson others = other_calls_json(view, window); !others.empty()) json[key::other_calls] = std::move(others);
  json[key::lanes] = std::move(drawn);
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
                      {key::source, source_json(source_of(host, id))},
                      {key::order, order},
                      {key::async, iterator.is_async}});
  }
  OrderedJson windows = OrderedJson::array();
  for (const TimelineWindow& window : timeline.windows())
    windows.push_back(window_json(timeline.view, window, indices));
  OrderedJson json = {
      {key::id, pipeline_id(timeline.view.judgement, timeline.view.pipeline)},
      {key::host, host_name(host)},
      {key::input_share, or_null(input_share_of(timeline.view))},
      {key::root, root == kNoIterator ? OrderedJson(nullptr) : OrderedJson(host.iterators[root].long_name)}};
  json[key::stages] = std::move(stages);
  json[key::stages_left_out] = timeline.stages_left_out;
  json[key::windows] = std::move(windows);
  return json;
}

/// The lines of one window.
class CsvWindow {
 public:
  CsvWindow(const PipelineTimeline& timeline, const TimelineWindow& window, DataTable& table)
      : host_(timeline.view.host),
        id_(pipeline_id(timeline.view.judgement, timeline.view.pipeline)),
        window_(window),
        table_(table) {}

  void add() {
    for (const WindowCall& call : window_.calls) {
      for (const Segment& stretch : call.stretches) {
        add_row("held", static_cast<std::int64_t>(call.number), {stretch.span, stretch.span.end - stretch.span.start},
                to_word(stretch.kind), stretch.iterator, stretch.lane);
      }
    }
    for (const TimelineLane& lane : window_.lanes) {
      for (const LaneSpan& span : lane.spans) {
        add_row("worked", {}, span, to_word(lane.work), lane.iterator, lane.lane);
      }
    }
  }

 private:
  void add_row(std::string_view what, Cell call, const LaneSpan& part, std::string_view kind, IteratorId iterator,
               LaneId lane) {
    table_.rows.push_back(
        {id_, host_name(host_), std::string(to_word(window_.kind)), window_.number, std::string(what), std::move(call),
         part.span.start - host_.window_start, part.span.end - part.span.start, part.work, std::string(kind),
         iterator == kNoIterator ? std::string() : host_.iterators[iterator].long_name, host_.threads[index_of(lane)]});
  }

  const HostMeasurement& host_;
  std::string id_;
  const TimelineWindow& window_;
  DataTable& table_;
};

}  // namespace

TimelineRequest TimelineChoice::request() const {
  TimelineRequest request;
  request.call = call;
  request.step = step;
  if (pipeline) request.root = root_of_pipeline_id(*pipeline);
  return request;
}

Result<TimelineList> choose_timelines(const Measurements& measurements, const Diagnosis& diagnosis,
                                      const TimelineChoice& choice) {
  TimelineList list;
  list.shows_tf_data = shows_tf_data(measurements);
  if (!list.shows_tf_data) return list;
  ASSIGN_OR_RETURN(std::vector<PipelineView> pipelines,
                   choose_pipelines(measurements, diagnosis.judgement, choice.pipeline));
  if (choice.call) {
    RETURN_IF_ERROR(check_call_number(pipelines, *choice.call));
  }
  for (const PipelineView& view : pipelines) {
    if (choice.call && !list.pipelines.empty()) break;
    if (view.pipeline.timelines.empty() || list.pipelines.size() == kMostTimelinePipelines) {
      ++list.pipelines_left_out;
    } else {
      list.pipelines.push_back(timeline_of(view));
    }
  }
  if (choice.step && list.pipelines.empty()) return no_such_step(pipelines, *choice.step);
  return list;
}

// The words of the schema: they never change.
std::string_view to_word(WindowKind kind) {
  switch (kind) {
    case WindowKind::typical_steps:
      return "typical_steps";
    case WindowKind::median_call:
      return "median_call";
    case WindowKind::longest_call:
      return "longest_call";
    case WindowKind::call:
      return "call";
    case WindowKind::step:
      break;
  }
  return "step";
}

std::string_view to_word(LaneWork work) {
  return work == LaneWork::self ? "self" : "function";
}

OrderedJson timeline_json(const TimelineList& list) {
  OrderedJson pipelines = OrderedJson::array();
  for (const PipelineTimeline& timeline : list.pipelines) pipelines.push_back(pipeline_timeline_json(timeline));
  OrderedJson page = {{key::schema, "tfdata-doctor.timeline/1"}, {key::tool, tool_json()}};
  page[key::pipelines] = std::move(pipelines);
  page[key::pipelines_left_out] = list.pipelines_left_out;
  return page;
}

std::string render_timeline_csv(const TimelineList& list) {
  DataTable table;
  table.columns = {{key::pipeline, {}},
                   {key::host, {}},
                   {key::window, {}},
                   {key::number, {}, ColumnKind::count},
                   {key::what, {}},
                   {"call", {}, ColumnKind::count},
                   {key::start_us, {}, ColumnKind::time},
                   {key::duration_us, {}, ColumnKind::time},
                   {"work_us", {}, ColumnKind::time},
                   {key::kind, {}},
                   {key::long_name, {}},
                   {key::thread, {}}};
  for (const PipelineTimeline& timeline : list.pipelines) {
    for (const TimelineWindow& window : timeline.windows()) CsvWindow(timeline, window, table).add();
  }
  return table_csv(table);
}

}  // namespace doctor
