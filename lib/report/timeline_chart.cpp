// The lanes of `show timeline` for a terminal.

#include <numeric>

#include "base/intervals.h"
#include "report/json_values.h"
#include "report/page.h"

namespace doctor {
namespace {

constexpr std::size_t kTimelineBar = 60;         ///< where nobody says how wide a page may be
constexpr std::size_t kWidestTimelineBar = 120;  ///< on a terminal
constexpr std::size_t kShortestTimelineBar = 12;
constexpr std::size_t kTimesBesideBar = 40;
constexpr std::size_t kBesideTimelineBar = 60;  ///< columns that times and names want
constexpr std::size_t kMostTimelineRows = 16;

/// A row of the chart: the loop, or a stage.
struct ChartRow {
  std::vector<Interval> held;    ///< the loop waits for it; disjoint, sorted
  std::vector<LaneSpan> worked;  ///< it works, on any thread, or the loop runs
  Picoseconds held_time = 0;
  Picoseconds work_time = 0;  ///< of all threads together
  std::string name;           ///< escaped
};

/// A solid block as wide as the part of a column that the loop waits; a light one where it does not wait but the stage
/// works for longer than that, and a dot where it works very little.
std::string two_tone_bar(const ChartRow& row, Interval window, std::size_t width) {
  constexpr double kLittle = 1.0 / 16;
  std::vector<double> held(width, 0);
  std::vector<double> worked(width, 0);
  for (const Interval& span : row.held) add_to_columns({span, span.end - span.start}, window, held);
  for (const LaneSpan& span : row.worked) add_to_columns(span, window, worked);
  std::string bar;
  for (std::size_t column = 0; column < width; ++column) {
    const double in_background = std::min(worked[column], 1.0) - held[column];
    if (in_background > held[column]) {
      bar += in_background < kLittle ? "·" : "░";
    } else {
      bar += block_of(held[column]);
    }
  }
  return bar;
}

/// Disjoint parts of the intervals inside the window.
std::vector<Interval> inside(Interval window, std::vector<Interval> intervals) {
  return intersected(merged(std::move(intervals)), std::vector<Interval>{window});
}

std::vector<Interval> waits_in(const TimelineWindow& window) {
  std::vector<Interval> waits;
  for (const WindowCall& call : window.calls) waits.push_back(call.span);
  for (const OtherCall& call : window.other_calls) waits.push_back(call.span);
  return inside(window.span, std::move(waits));
}

/// How long the loop waits for other pipelines, where it does not wait for this one at the same time.
Picoseconds waits_for_others(const TimelineWindow& window) {
  std::vector<Interval> own;
  for (const WindowCall& call : window.calls) own.push_back(call.span);
  return total_length(waits_in(window)) - total_length(inside(window.span, std::move(own)));
}

ChartRow row_of_loop(const TimelineWindow& window) {
  ChartRow row;
  row.held = waits_in(window);
  row.held_time = total_length(row.held);
  for (const Interval& gap : gaps_in(window.span, row.held)) {
    row.worked.push_back({gap, gap.end - gap.start});
    row.work_time += gap.end - gap.start;
  }
  row.name = "the training loop";
  return row;
}

ChartRow row_of_stage(const HostMeasurement& host, const TimelineWindow& window, IteratorId stage) {
  ChartRow row;
  for (const WindowCall& call : window.calls) {
    std::vector<Interval> stretches;
    for (const Segment& stretch : call.stretches) {
      if (stretch.iterator == stage) stretches.push_back(stretch.span);
    }
    const bool is_inside = call.span.start >= window.span.start && call.span.end <= window.span.end;
    if (is_inside) {
      for (const HeldTime& held : call.held_by) row.held_time += held.iterator == stage ? held.time : 0;
    } else {
      row.held_time += total_length(inside(window.span, stretches));
    }
    row.held.insert(row.held.end(), stretches.begin(), stretches.end());
  }
  for (const TimelineLane& lane : window.lanes) {
    if (lane.iterator != stage) continue;
    row.worked.insert(row.worked.end(), lane.spans.begin(), lane.spans.end());
    row.work_time += lane.time;
  }
  row.held = inside(window.span, std::move(row.held));
  row.name = clipped(describe(host, stage));
  return row;
}

/// The stages that held a call or worked here, in the order of the code; of many those that did most.
std::vector<ChartRow> rows_of_stages(const PipelineTimeline& timeline, const TimelineWindow& window) {
  std::vector<ChartRow> rows;
  for (const IteratorId stage : timeline.stages) {
    ChartRow row = row_of_stage(timeline.view.host, window, stage);
    if (row.held_time + row.work_time > 0) rows.push_back(std::move(row));
  }
  std::vector<std::size_t> heaviest(rows.size());
  std::iota(heaviest.begin(), heaviest.end(), std::size_t{0});
  std::ranges::stable_sort(heaviest, [&](std::size_t a, std::size_t b) {
    return rows[a].held_time + rows[a].work_time > rows[b].held_time + rows[b].work_time;
  });
  heaviest.resize(std::min(heaviest.size(), kMostTimelineRows));
  std::ranges::sort(heaviest);
  std::vector<ChartRow> shown;
  for (const std::size_t index : heaviest) shown.push_back(std::move(rows[index]));
  return shown;
}

/// How much of the time that the loop runs any stage works, too. Threads that only do something now and then do not
/// count: of these it is not known when.
double background_share(const ChartRow& loop, const TimelineWindow& window) {
  std::vector<Interval> works;
  for (const TimelineLane& lane : window.lanes) {
    for (const LaneSpan& span : lane.spans) {
      if (2 * span.work >= span.span.end - span.span.start) works.push_back(span.span);
    }
  }
  const std::vector<Interval> runs = gaps_in(window.span, loop.held);
  return share_of_time(total_length(intersected(merged(std::move(works)), runs)), loop.work_time);
}

/// The stage that the loop waits for most.
std::vector<ChartRow>::const_iterator longest_held(const std::vector<ChartRow>& stages) {
  return std::ranges::max_element(stages, {}, &ChartRow::held_time);
}

/// What one sees, in a line.
std::string words_about(const ChartRow& loop, const std::vector<ChartRow>& stages, const TimelineWindow& window) {
  constexpr double kHardly = 0.05;
  constexpr double kLittleBackground = 0.1;
  const double waits = share_of_time(loop.held_time, loop.held_time + loop.work_time);
  const auto longest = longest_held(stages);
  std::string words = fmt::format("the loop waits for {} of this time", format_share(waits));
  if (const Picoseconds others = waits_for_others(window); others > 0) {
    words += fmt::format(", {} of it for other pipelines", format_time(others));
  }
  if (waits < kHardly) {
    words += ": its elements are ready";
  } else if (longest != stages.end()) {
    words += fmt::format(", most of all for {} ({} of the wait)", longest->name,
                         format_share(share_of_time(longest->held_time, loop.held_time)));
  }
  if (loop.work_time == 0) return words;
  const double background = background_share(loop, window);
  if (background >= kLittleBackground) {
    return words + fmt::format("; while it runs, stages work for {} of the time", format_share(background));
  }
  return waits < kHardly ? words : words + "; while it runs, the stages rest: nothing is made ahead";
}

std::int64_t last_number(const TimelineWindow& window) {
  return window.calls.empty() ? window.number : static_cast<std::int64_t>(window.calls.back().number);
}

std::string window_words(const TimelineWindow& window) {
  switch (window.kind) {
    case WindowKind::typical_steps:
      return window.number == last_number(window)
                 ? fmt::format("typical step {}", window.number)
                 : fmt::format("typical steps {} to {}", window.number, last_number(window));
    case WindowKind::step:
      return fmt::format("step {}", window.number);
    case WindowKind::median_call:
      return fmt::format("call {}, of median length, and as much time before it", window.number);
    case WindowKind::call:
      return fmt::format("call {} and as much time before it", window.number);
    case WindowKind::longest_call:
      break;
  }
  return fmt::format("call {}", window.number);
}

std::string title(const PipelineTimeline& timeline, const TimelineWindow& window) {
  const PipelineView& view = timeline.view;
  const double start =
      static_cast<double>(window.span.start - view.host.window_start) / static_cast<double>(kPicosecondsPerSecond);
  return fmt::format("pipeline {} on {}: {}: {}, from {:.6f} s on\n", pipeline_id(view), clipped(view.host.name()),
                     window_words(window), format_time(window.span.end - window.span.start), start);
}

TextRow cells_of(const ChartRow& row, const TimelineWindow& window, std::size_t bar) {
  const Picoseconds length = window.span.end - window.span.start;
  constexpr double kLeastShare = 0.0005;  // less would be printed as 0
  const double share = share_of_time(row.held_time, length);
  const auto time_or_blank = [](Picoseconds time) { return time > 0 ? format_time(time) : std::string(); };
  return {fmt::format("  |{}|", two_tone_bar(row, window.span, bar)), time_or_blank(row.held_time),
          share >= kLeastShare ? format_share(share) : "", time_or_blank(row.work_time), row.name};
}

/// "0         12.5 ms         25.0 ms" under the bars: times from the start of the window.
std::string axis_of(const TimelineWindow& window, std::size_t bar) {
  const Picoseconds length = window.span.end - window.span.start;
  const std::string end = format_time(length);
  const std::string middle = format_time(length / 2);
  std::string axis(bar, ' ');
  axis[0] = '0';
  if (end.size() + 2 > bar) return axis;
  axis.replace(bar - end.size(), end.size(), end);
  const std::size_t at = bar / 2 - std::min(bar / 2, middle.size() / 2);
  if (at >= 3 && at + middle.size() + 2 < bar - end.size()) axis.replace(at, middle.size(), middle);
  return axis;
}

std::string left_out_words(const PipelineTimeline& timeline, const TimelineWindow& window, std::size_t shown) {
  std::string words;
  const auto add = [&](std::size_t count, std::string_view one) {
    if (count > 0) words += (words.empty() ? "" : ", ") + format_count(count, one);
  };
  add(timeline.stages.size() + timeline.stages_left_out - shown, "stage");
  add(window.lanes_left_out, "thread");
  add(window.calls_left_out, "call");
  return words.empty() ? words : "not drawn, since they do little or nothing here: " + words + "\n";
}

/// As wide as the names leave room for: no name is cut for a wider bar.
std::size_t bar_width(const std::vector<ChartRow>& stages, PageWidth width) {
  if (!width) return kTimelineBar;
  std::size_t widest = 0;
  for (const ChartRow& stage : stages) widest = std::max(widest, column_count(stage.name));
  const auto left = [&](std::size_t taken) { return *width - std::min(*width, taken); };
  const std::size_t usual = std::clamp(left(kBesideTimelineBar), kShortestTimelineBar, kTimelineBar);
  return std::max(usual, std::min(left(kTimesBesideBar + widest), kWidestTimelineBar));
}

std::string chart_of(const PipelineTimeline& timeline, const TimelineWindow& window, const TextStyle& style) {
  const PageWidth width = style.width;
  const ChartRow loop = row_of_loop(window);
  const std::vector<ChartRow> stages = rows_of_stages(timeline, window);
  const std::size_t bar = bar_width(stages, width);
  std::vector<TextRow> rows = {cells_of(loop, window, bar)};
  for (const ChartRow& stage : stages) rows.push_back(cells_of(stage, window, bar));
  rows.push_back({"   " + axis_of(window, bar), "", "", "", ""});
  const auto longest = longest_held(stages);
  const bool has_strong = style.color && longest != stages.end() && longest->held_time > 0;
  const auto strong = has_strong ? std::optional(static_cast<std::size_t>(longest - stages.begin()) + 1) : std::nullopt;
  return fitted_lines(title(timeline, window), width, 2) +
         text_table({{""},
                     {"waits", Align::right},
                     {"", Align::right, Fit::keep, 1},
                     {"works", Align::right, Fit::keep, 2},
                     {"stage, sources first", Align::left, Fit::shorten}},
                    rows, width, /*has_titles=*/true, strong) +
         fitted_lines("  " + words_about(loop, stages, window) + "\n", width, 4) +
         fitted_lines(left_out_words(timeline, window, stages.size()), width, 2);
}

}  // namespace

std::string timeline_chart(const TimelineList& list, const TextStyle& style) {
  const PageWidth width = style.width;
  std::string text = joined(list.pipelines, "\n", [&](const PipelineTimeline& timeline) {
    return chart_of(timeline, timeline.windows().front(), style);
  });
  if (text.empty()) return "no GetNext call of a consumer in this trace\n";
  text += fitted_lines(
      "\n█ the loop waits, for this stage; ░ the loop runs, the stage works in the background (·: a little)\n"
      "works: the time of all threads together\n",
      width);
  if (list.pipelines_left_out == 0) return text;
  return text + fitted_lines(format_count(list.pipelines_left_out, "more pipeline") + ": --pipeline ID\n", width);
}

}  // namespace doctor
