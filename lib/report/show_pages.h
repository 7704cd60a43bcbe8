#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "diagnose/diagnose.h"
#include "diagnose/element_buffers.h"
#include "diagnose/tuning.h"
#include "measure/call_details.h"
#include "measure/core_waits.h"
#include "measure/input_work.h"
#include "measure/measurements.h"
#include "measure/step_table.h"
#include "measure/timeline.h"
#include "report/selection.h"
#include "text/columns.h"
#include "text/data_table.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

// Pages of `show`, each in a file of its own.

// `show overview`: the overview page of the guide of TensorFlow's profiler. Measurements need their profiles.

/// What the overview and the input page show of the steps of all hosts.
struct StepOverview {
  std::vector<StepTable> hosts;  ///< indexed as Measurements::hosts
  StepSummary summary;
  std::string note;  ///< how the steps were determined
  /// Of the time of the steps where there are any, else of the verdict; nullopt where no GetNext was seen.
  std::optional<double> input_share;
  /// Why the verdict's share differs, for a person; empty if the two are about the same.
  std::string verdict_note;
};

StepOverview step_overview(const Measurements& measurements, const Diagnosis& diagnosis);

/// `step_time` of the JSON pages.
OrderedJson step_time_json(const StepSummary& summary);

std::string render_overview_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style);

/// The same as `tfdata-doctor.overview/1`.
OrderedJson overview_json(const Measurements& measurements, const Diagnosis& diagnosis);

// `show input`: the input pipeline analyzer of the guide of TensorFlow's profiler. Measurements need their profiles.

/// The word of the schema, e.g. "read_on_demand".
std::string_view to_word(InputWork work);

/// A row for each iterator and each kind of op that moves data to a device, the one that works most first: its self
/// time and what its functions do on other threads. Waiting for other threads is not work and has a column of its own.
DataTable input_table(const Measurements& measurements);

/// What is above the table: the input-bound share, the steps, and what the host spends its time on.
std::string input_summary_text(const Measurements& measurements, const Diagnosis& diagnosis, PageWidth width = {});

/// The same as a page of JSON with the rows of the table.
OrderedJson input_json(const Measurements& measurements, const Diagnosis& diagnosis, const DataTable& table);

// `show tree`.

/// The iterator trees with their times, pipelines in the order of the judgement; roots that no call of a consumer was
/// seen of come last.
std::string render_tree_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style = {});

/// The same as `tfdata-doctor.tree/2`: the array `pipelines` of the report, and `other_iterators`.
OrderedJson tree_json(const Measurements& measurements, const Diagnosis& diagnosis);

// `show autotune`: what the stages of each pipeline were given and chose.

/// A table for each pipeline, and its budgets.
std::string render_autotune_text(const Measurements& measurements, const Diagnosis& diagnosis, PageWidth width = {});

/// The same as `tfdata-doctor.autotune/1`, with the histories of all attributes.
OrderedJson autotune_json(const Measurements& measurements, const Diagnosis& diagnosis);

/// "RAM: 10,527 MB for buffers, 0 MB in them at the end, ...", a line; empty if the trace says nothing of it.
std::string ram_line(const AutotuneBudget& budget);

/// One line for each attribute of each iterator, with a header.
std::string render_autotune_csv(const Measurements& measurements, const Diagnosis& diagnosis);

// `show hosts`: the hosts of a run side by side, and the waits of its cores in each step. Measurements need their
// profiles.

/// A row for each host, the one that waits most first.
DataTable hosts_table(const Measurements& measurements, const Diagnosis& diagnosis);

/// The steps of the run on its cores; none of windows of one host, which number other steps alike.
std::vector<StepOnCores> steps_in_common(const Measurements& measurements, const Diagnosis& diagnosis);

/// A row for each step: the least, the mean and the most over its cores of the time that it takes and of the wait for
/// input within it, as in the device-side details of the profiler's input-pipeline analyzer.
DataTable core_waits_table(const std::vector<StepOnCores>& steps);

/// What the cores of that table are; why it has no rows, if so.
std::string core_waits_note(const std::vector<StepOnCores>& steps);

/// Both tables as a page of JSON.
OrderedJson hosts_json(const DataTable& hosts, const DataTable& core_waits, const Diagnosis& diagnosis);

/// What a part of a step is called.
struct StepPartNames {
  StepPart part;
  std::string_view key;    ///< of the column
  std::string_view title;  ///< of the column, for a person
  std::string_view words;
  std::uint8_t spare;  ///< Column::spare
};

/// In the order of the profiler's guide.
std::span<const StepPartNames> step_parts();

/// The word of the schema for a part of a step, e.g. "kernel_launch".
std::string_view to_word(StepPart part);

/// How the steps were determined, as a sentence for a person.
std::string_view describe(StepSource source);
/// The same as a word of the schema.
std::string_view to_word(StepSource source);

/// How the steps of these hosts were determined.
std::string step_note(const Measurements& measurements);

/// Of all hosts.
std::size_t step_count(const Measurements& measurements);

/// `show steps`: a row for each step of each host, in order of time; only the first `most_rows`, because half a million
/// steps, which a trace of 25 MB can have, are 300 MB of cells.
DataTable steps_table(const Measurements& measurements, std::size_t most_rows);

enum class OpGrouping : std::uint8_t { name, type };

/// `show ops`: what each op cost on the hosts and on the devices, all hosts together. Measurements need their profiles.
struct OpsChoice {
  OpGrouping by = OpGrouping::name;
  bool with_iterators = true;
  bool with_idle = false;  ///< a row IDLE for each side, and shares of the time with it
};

/// Most self time first, the devices' ops before the hosts', as the guide's tool has them. Each side has shares of its
/// own self time.
DataTable ops_table(const Measurements& measurements, const OpsChoice& choice);

/// `show kernels`: every kernel that ran on a GPU, apart by how it was launched and for which op, all devices and hosts
/// together. Most total time first.
DataTable kernels_table(const Measurements& measurements);

/// Why the table is empty, for a person; empty if it is not.
std::string kernels_note(const Measurements& measurements);

// `show memory`: what the allocators of the devices gave, what was held at the peak, and the elements that tf.data
// keeps in its buffers. Measurements need their profiles; with the histories of attributes, buffers have their largest
// values.

/// `top`: how many rows of what is held at the peak of each allocator; nullopt: all. Likewise below.
std::string render_memory_text(const Measurements& measurements, const Diagnosis& diagnosis,
                               std::optional<std::size_t> top, PageWidth width = {});

/// The same as `tfdata-doctor.memory/1`, with the timelines.
OrderedJson memory_json(const Measurements& measurements, const Diagnosis& diagnosis, std::optional<std::size_t> top);

/// A line for each kind of allocation at the peak, and for each buffer.
std::string render_memory_csv(const Measurements& measurements, const Diagnosis& diagnosis,
                              std::optional<std::size_t> top);

// `show calls`: GetNext calls of the consumer, each with who held it when.

/// Which calls the user wants to see.
struct CallChoice {
  std::optional<std::size_t> number;    ///< this call of the pipeline, by its place in time from 1
  std::optional<std::string> pipeline;  ///< id of the pipeline; else all that feed no other, the worst for a number
  std::optional<std::size_t> top;       ///< how many of the slow calls; nullopt: all calls, slow or not

  /// What must be measured for it.
  CallDetailRequest request() const;
};

/// A call on the page.
struct ShownCall {
  PipelineView view;
  const CallDetail* detail;

  bool is_warmup() const { return detail->number <= view.pipeline.warmup_count; }
  /// Since the first event of the trace.
  Picoseconds start() const { return detail->span.start - view.host.window_start; }
};

/// The calls of a page with what they were chosen from. Refers to the measurements.
struct CallList {
  CallChoice choice;
  bool shows_tf_data = false;
  std::vector<PipelineView> pipelines;  ///< that were looked at, worst first
  std::vector<ShownCall> calls;         ///< longest first; of equals the worse pipeline, then the earlier call

  std::size_t slow_count() const;
};

/// Chooses from calls that were measured with `choice.request()`. Errors: no such pipeline, no such call in it.
Result<CallList> choose_calls(const Measurements& measurements, const Diagnosis& diagnosis, const CallChoice& choice);

/// The part of a call that one iterator held in one way on one thread.
struct CallRow {
  IteratorId iterator = kNoIterator;
  SegmentKind kind = SegmentKind::self;
  LaneId lane{};
  Picoseconds time = 0;
  std::vector<Interval> spans;  ///< in order of time
};

/// The segments of a call put together, in order of their first start. The rows sum to the latency exactly.
std::vector<CallRow> rows_of(const CallDetail& detail);

/// The word of the schema for who held a segment: "self", "function", …
std::string_view to_word(SegmentKind kind);

/// A block character as wide as a part of a column, 0 to 1. A part too small for one leaves a thin mark.
std::string_view block_of(double part);

/// Adds to each column of the window the part of it that the span is at work in.
void add_to_columns(const LaneSpan& part, Interval window, std::vector<double>& columns);

/// Where in `window` the spans lie, as `width` block characters. A span too short for its column leaves a thin mark.
std::string bar_of(const std::vector<Interval>& spans, Interval window, std::size_t width);

/// The calls as charts for a terminal.
std::string render_calls_text(const CallList& list, const TextStyle& style = {});

/// The same as `tfdata-doctor.calls/1`.
OrderedJson calls_json(const CallList& list);

/// One line a segment, with a header.
std::string render_calls_csv(const CallList& list);

// `show timeline`: what the stages of a pipeline did in typical steps, in the median call and in the longest ones, or
// in one call or step, and who held the consumer when.

/// Which timelines the user wants to see.
struct TimelineChoice {
  std::optional<std::size_t> call;      ///< this call of the pipeline, by its place in time from 1
  std::optional<std::int64_t> step;     ///< the step that the trace marks with this number
  std::optional<std::string> pipeline;  ///< id of the pipeline; else those that feed no other, the worst for a call

  /// What must be measured for it.
  TimelineRequest request() const;
};

/// No more stages of a pipeline are drawn; those that did and held the least are left out.
inline constexpr std::size_t kMostTimelineStages = 40;

/// The windows of one pipeline. Refers to the measurements.
struct PipelineTimeline {
  PipelineView view;
  std::vector<IteratorId> stages;  ///< in the order of the user's code, sources first
  std::size_t stages_left_out = 0;

  const std::vector<TimelineWindow>& windows() const { return view.pipeline.timelines; }
};

struct TimelineList {
  bool shows_tf_data = false;
  std::vector<PipelineTimeline> pipelines;  ///< worst first, at most kMostTimelinePipelines
  std::size_t pipelines_left_out = 0;
};

/// Chooses from timelines that were measured with `choice.request()`. Errors: no such pipeline, no such call or step.
Result<TimelineList> choose_timelines(const Measurements& measurements, const Diagnosis& diagnosis,
                                      const TimelineChoice& choice);

/// The word of the schema: "typical_steps".
std::string_view to_word(WindowKind kind);
std::string_view to_word(LaneWork work);

/// The document `tfdata-doctor.timeline/1`.
OrderedJson timeline_json(const TimelineList& list);

/// One window of each pipeline as lanes for a terminal: the typical steps, or what was asked for.
std::string render_timeline_text(const TimelineList& list, const TextStyle& style = {});

/// One line a stretch of a call and one a span of a lane, with a header.
std::string render_timeline_csv(const TimelineList& list);

// What the page about memory puts together.

// The part of `show memory` about the host: the elements that tf.data keeps in its buffers.

/// The buffers of some iterators.
struct BufferGroup : IteratorGroup {
  AutotuneBudget budget;
  std::vector<ElementBuffer> buffers;
  std::optional<std::int64_t> last_step;  ///< the number of the last one that was recorded, where steps have numbers

  /// So many bytes as a share of the RAM budget; nullopt where either is not known.
  std::optional<double> budget_share(std::optional<std::uint64_t> bytes) const;
  /// How many more elements are in it after each step, over the window; nullopt where they do not become more, or the
  /// trace does not show it.
  std::optional<double> elements_per_step(const ElementBuffer& buffer) const;
  /// Steps until it is full at this rate; nullopt where it has no limit, too.
  std::optional<double> steps_until_full(const ElementBuffer& buffer) const;
  /// The number of the step in which it is; nullopt where steps have no numbers, too.
  std::optional<std::int64_t> full_at_step(const ElementBuffer& buffer) const;
};

/// In the order of iterator_groups().
std::vector<BufferGroup> element_buffer_groups(const Measurements& measurements, const Diagnosis& diagnosis);

/// A title, the table of the buffers, and the RAM budget.
std::string buffers_text(const BufferGroup& group, PageWidth width);

OrderedJson buffers_json(const BufferGroup& group);

// The part of `show memory` about the process that was recorded: the samples beside the trace.

/// Its memory, how it grows with the steps, what can have taken it, and what will be taken; empty where it was not
/// noted. A file that cannot be used is a line that says why.
std::string process_memory_text(const HostMeasurement& host, PageWidth width);

/// The same; null where it was not noted.
OrderedJson process_memory_json(const HostMeasurement& host);

// `checklist`: the questions of TensorFlow's guide "Analyze tf.data performance with the TF Profiler" in its order,
// each with the answer for the worst pipeline and the measurements that it rests on.

std::string render_checklist_text(const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle& style);

/// All of it as `tfdata-doctor.checklist/1`.
OrderedJson checklist_json(const Measurements& measurements, const Diagnosis& diagnosis);

std::string render_checklist_markdown(const Measurements& measurements, const Diagnosis& diagnosis);

}  // namespace doctor
