#pragma once

#include "base/result.h"
#include "diagnose/diagnose.h"
#include "diagnose/tuning.h"
#include "measure/measure.h"
#include "measure/measurements.h"
#include "measure/steps/step_table.h"
#include "measure/timeline/timeline.h"
#include "report/selection.h"
#include "text/json_page.h"
#include "text/table.h"
#include "text/text_page.h"

namespace doctor {

// Pages of `show`: each is one value, in a file of its own.

/// The options of `show`, beside the page and its format.
struct ShowOptions {
  TextStyle style = {};
  std::optional<std::size_t> call = {};  ///< number of one call in its pipeline, from 1
  std::optional<std::size_t> step = {};  ///< number of one step, as the trace marks it
  std::optional<std::string> pipeline =
      {};                                ///< id of the pipeline; else all that feed no other, the worst for a number
  std::optional<std::size_t> top = {};   ///< number of calls or rows; 0: all
  std::optional<std::string> sort = {};  ///< key of the column that a table is sorted by
  bool by_type = false;                  ///< a row for each type of op, not for each op
  bool with_idle = false;                ///< with the time in which no op ran
  bool by_step = false;                  ///< a row for each step, not for each host

  /// How many calls or rows; nullopt: all.
  std::optional<std::size_t> most_rows() const { return top && *top > 0 ? top : std::nullopt; }

  /// The calls that they choose, or else so many of the longest.
  CallRequest calls(std::optional<std::size_t> longest = {}) const {
    return {longest, call, step, pipeline ? root_of_pipeline_id(*pipeline) : std::nullopt};
  }
};

/// What a page is made of.
struct PageInput {
  const Measurements& measurements;
  const Diagnosis& diagnosis;
  const ShowOptions& options;
};

/// A page of `show`: an entry in the one list of them. The table of options says which options a page takes. Errors of
/// what it makes: what was requested is not in the trace.
struct Page {
  std::string_view name;
  std::string_view summary;
  bool is_drawn = false;       ///< has pictures on a page for a browser; else its text is shown there
  bool needs_tf_data = true;   ///< has nothing to show for a trace without tf.data
  std::size_t screenful = 20;  ///< default number of calls or rows

  /// What it needs of the traces beyond a diagnosis.
  TraceNeeds (*needs)(const ShowOptions& options) = [](const ShowOptions&) { return TraceNeeds(); };

  /// Its rows: all of a CSV, and where the page has no text of its own, of that too.
  Result<PageRows> (*rows)(const PageInput& input) = nullptr;
  Result<std::string> (*text)(const PageInput& input) = nullptr;
  /// Printed as JSON, and drawn for a browser; null: its rows, as a document of this schema.
  Result<OrderedJson> (*document)(const PageInput& input) = nullptr;
  std::string_view schema = {};
  std::string (*picture)(const PageInput& input) = nullptr;   ///< SVG; null: it has none
  std::string (*markdown)(const PageInput& input) = nullptr;  ///< null: it has none

  /// What is printed for a person.
  Result<std::string> text_of(const PageInput& input) const;
  Result<OrderedJson> document_of(const PageInput& input) const;
};

extern const Page kPacePage;
extern const Page kOverviewPage;
extern const Page kInputPage;
extern const Page kTreePage;
extern const Page kCallsPage;
extern const Page kTimelinePage;
extern const Page kAutotunePage;
extern const Page kHostsPage;
extern const Page kStepsPage;
extern const Page kOpsPage;
extern const Page kKernelsPage;
extern const Page kMemoryPage;

/// `checklist`: the questions of TensorFlow's guide "Analyze tf.data performance with the TF Profiler" in its order,
/// each with the answer for the worst pipeline and the measurements that it rests on. A command of its own.
extern const Page kChecklistPage;

/// The needs of a page about everything that the events say.
inline TraceNeeds need_whole_profile(const ShowOptions& /*options*/) {
  return {.element_types = true, .profile = ProfileParts()};
}

/// All pages, in the order in which the help lists them.
std::span<const Page* const> pages();

std::vector<std::string_view> page_names();

/// The page of that name; null if there is none.
const Page* find_page(std::string_view name);

/// The rows that the options choose. Errors: no column of that name.
Result<PageRows> chosen_rows(const ShowOptions& options, PageRows rows);

// What several pages show.

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

/// How long a step takes and what its time goes to, in rows.
void add_step_time(const StepOverview& steps, TextPage& page);

/// `step_time` of the JSON pages.
OrderedJson step_time_json(const StepSummary& summary);

/// What a part of a step is called, and how it looks.
struct StepPartNames {
  StepPart part;
  std::string_view key;    ///< of the column
  std::string_view title;  ///< of the column, for a person
  std::string_view words;
  std::string_view look;  ///< class of page.css
  std::uint8_t spare;     ///< Column::spare
};

/// In the order of the profiler's guide.
std::span<const StepPartNames> step_parts();

/// How the steps of a host were determined, as a word of the schema.
std::string_view to_word(StepSource source);

/// The same of these hosts, as a sentence for a person.
std::string step_note(const Measurements& measurements);

enum class OpGrouping : std::uint8_t { name, type };

struct OpsChoice {
  OpGrouping by = OpGrouping::name;
  bool with_iterators = true;
  bool with_idle = false;  ///< a row IDLE for each side, and shares of the time with it
};

/// What each op cost on the hosts and on the devices, all hosts together. Measurements need their profiles. Most self
/// time first, the devices' ops before the hosts', as the guide's tool has them. Each side has shares of its own self
/// time.
DataTable ops_table(const Measurements& measurements, const OpsChoice& choice);

/// "RAM: 10,527 MB for buffers, 0 MB in them at the end, ...", a line; empty if the trace says nothing of it.
std::string ram_line(const AutotuneBudget& budget);

// The parts of `show memory` about a host: the elements that tf.data keeps in its buffers, and the process that was
// recorded, by the samples beside the trace.

/// For each group of iterators a title, the table of its buffers, and the RAM budget.
std::string buffers_text(const PageInput& input);
OrderedJson buffers_json(const PageInput& input);
/// A row for each buffer: host, group, iterator, none of three, number, bytes of one and of all, share of the budget.
void add_buffer_rows(const PageInput& input, DataTable& table);

/// Its memory, how it grows with the steps, what can have taken it, and what will be taken; empty where it was not
/// noted. A file that cannot be used is a line that says why.
std::string process_memory_text(const HostMeasurement& host, PageWidth width);
/// The same; null where it was not noted.
OrderedJson process_memory_json(const HostMeasurement& host);

/// A call on the page of calls.
struct ShownCall {
  PipelineView view;
  const CallDetail* detail;

  bool is_warmup() const { return detail->number <= view.pipeline.warmup_count; }
  /// Since the first event of the trace.
  Picoseconds start() const { return detail->span.start - view.host.window_start; }
};

/// The calls of a page with what they were chosen from. Refers to the measurements.
struct CallList {
  std::vector<PipelineView> pipelines;  ///< that were looked at, worst first
  std::vector<ShownCall> calls;         ///< longest first; of equals the worse pipeline, then the earlier call

  std::size_t slow_count() const;
};

/// Chooses from calls that were measured as kCallsPage needs them. Errors: no such pipeline, no such call in it.
Result<CallList> choose_calls(const PageInput& input);

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
/// The same for a person, by the word of the schema: "own work", "your function", …
std::string describe_segment_kind(std::string_view word);

/// A block character as wide as a part of a column, 0 to 1. A part too small for one leaves a thin mark.
std::string_view block_of(double part);

/// Adds to each column of the window the part of it that the span is at work in.
void add_to_columns(const LaneSpan& part, Interval window, std::vector<double>& columns);

/// Where in `window` the spans lie, as `width` block characters. A span too short for its column leaves a thin mark.
std::string bar_of(const std::vector<Interval>& spans, Interval window, std::size_t width);

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
  std::vector<PipelineTimeline> pipelines;  ///< worst first, at most kMostTimelinePipelines
  std::size_t pipelines_left_out = 0;
};

/// Chooses from timelines that were measured as kTimelinePage needs them. Errors: no such pipeline, no such call or
/// step.
Result<TimelineList> choose_timelines(const PageInput& input);

/// One window of each pipeline as lanes for a terminal: the typical steps, or what was asked for.
std::string timeline_chart(const TimelineList& list, const TextStyle& style);

// What sets the pace. Each stage and the training itself as one bar, the time that it needs for a step: they work at
// the same time, so the longest is how long a step takes, and the second longest what limits next.

/// What a bar is in the picture.
enum class PaceRole : std::uint8_t {
  other,
  sets_pace,    ///< its worker needs the longest for a step, and that is how long a step takes
  next_limit,   ///< likewise of all other workers
  waited_for,   ///< the training waits for it now and then: no worker needs as long as a step
  takes_cores,  ///< it takes cores, or Python's lock, from the training
};

/// A bar of the picture.
struct PaceBar {
  StageWork work;
  PaceRole role = PaceRole::other;
};

/// The picture of the pipeline that is waited for most. Refers to the measurements.
struct StepPace {
  PipelineView view;
  double step = 0;                   ///< us from one call of the consumer to the next, the mean, as recorded
  double longest = 0;                ///< us that the worker needs for a step that needs the longest
  std::optional<double> step_after;  ///< the same after the first change; none: no change has a predicted gain
  std::vector<PaceBar> bars;         ///< in the order of the user's code, the training last
  std::size_t bars_left_out = 0;     ///< those that take next to no time
};

/// Nothing where the trace does not show what a step is made of: fewer than two steps, or no threads.
std::optional<StepPace> pace_of(const Measurements& measurements, const Diagnosis& diagnosis);

/// The word of the schema, e.g. "sets_pace".
std::string_view to_word(PaceRole role);

/// What a role is for a person, by its word of the schema: "sets the pace"; empty for `other`.
std::string_view describe_pace_role(std::string_view word);

/// How to read the picture, in a few sentences. `is_in_turn`: a worker has several bars.
std::string describe_pace(double step, double longest, bool is_in_turn);

/// `pace` of the report; null for nothing.
OrderedJson pace_json(const std::optional<StepPace>& pace);

/// The picture as rows of a page that has more: nothing for no picture.
void add_pace(const std::optional<StepPace>& pace, const TextStyle& style, TextPage& page);

/// The bars as lines of a page that goes on, at most `width` columns wide; empty for nothing. Foreign text in them is
/// escaped.
std::vector<std::string> pace_lines(const std::optional<StepPace>& pace, const TextStyle& style);

}  // namespace doctor
