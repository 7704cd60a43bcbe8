#include <algorithm>
#include <chrono>
#include <utility>

#include "base/time.h"
#include "fleet/fleet_pages.h"
#include "text/timestamp.h"

namespace doctor {
namespace {

constexpr double kNanosecondsPerHour = 3.6e12;

template <typename Items>
std::size_t shown_count(const Items& items, std::size_t top) {
  return top == 0 ? items.size() : std::min(top, items.size());
}

Cell count_cell(std::uint64_t count) {
  return static_cast<std::int64_t>(std::min<std::uint64_t>(count, INT64_MAX));
}

Cell text_or_unknown(const std::string& text) {
  return text.empty() ? Cell() : Cell(text);
}

/// How well a narrow page can do without the columns about savings; what is at the lower end is left out first.
enum SpareOfSavings : std::uint8_t { kSpareEstimate = 1, kSpareTraces, kSpareLow };

std::vector<Cell> loss_cells(const FleetCause& cause, const FleetView& view) {
  std::vector<Cell> cells = {to_hours(cause.lost_ns), cause.share, count_cell(cause.traces), count_cell(cause.jobs)};
  const FleetSaving& saved = cause.saved;
  const bool is_predicted = saved.traces > 0;
  cells.push_back(count_cell(saved.traces));
  for (const std::int64_t time : {saved.ns, saved.low_ns}) {
    cells.push_back(is_predicted ? Cell(to_hours(time)) : Cell());
  }
  if (view.price) {
    for (const std::int64_t time : {saved.ns, saved.low_ns}) {
      cells.push_back(is_predicted ? Cell(to_hours(time) * *view.price) : Cell());
    }
  }
  cells.emplace_back(cause.example);
  return cells;
}

void append_loss_columns(DataTable& table, const FleetView& view) {
  std::vector<Column> columns = {{"lost_hours", "lost", ColumnKind::hours},
                                 {"share", "share", ColumnKind::share},
                                 {"traces", "traces", ColumnKind::count},
                                 {"jobs", "jobs", ColumnKind::count},
                                 {"predicted_traces", "predicted", ColumnKind::count, true, kSpareTraces},
                                 {"saved_hours", "saved", ColumnKind::hours, true, kSpareEstimate},
                                 {"saved_low_hours", "low end", ColumnKind::hours, true, kSpareLow}};
  if (view.price) {
    columns.push_back({"saved_money", "money saved", ColumnKind::number, true, kSpareEstimate});
    columns.push_back({"saved_low_money", "low end", ColumnKind::number, true, kSpareLow});
  }
  columns.push_back({"example", "example", ColumnKind::path});
  table.columns.insert(table.columns.end(), columns.begin(), columns.end());
}

std::vector<Cell> culprit_cells(const FleetCause& cause) {
  const bool is_unknown =
      cause.culprit_kind.empty() && cause.rule.empty() && cause.source.empty() && cause.group.empty();
  return {is_unknown ? Cell("no culprit") : Cell(cause.culprit_dataset), text_or_unknown(cause.culprit_kind),
          text_or_unknown(cause.limiting_resource)};
}

void append_row(DataTable& table, std::vector<Cell> cells, const FleetCause& cause, const FleetView& view) {
  std::vector<Cell> loss = loss_cells(cause, view);
  cells.insert(cells.end(), std::make_move_iterator(loss.begin()), std::make_move_iterator(loss.end()));
  table.rows.push_back(std::move(cells));
}

/// A row for each cause that the view shows: its own cells, then what it costs.
DataTable loss_table(std::vector<Column> columns, const std::vector<FleetCause>& causes,
                     std::vector<Cell> (*cells_of)(const FleetCause& cause), const FleetView& view) {
  DataTable table;
  table.columns = std::move(columns);
  append_loss_columns(table, view);
  for (std::size_t index = 0; index < shown_count(causes, view.top); ++index) {
    append_row(table, cells_of(causes[index]), causes[index], view);
  }
  return table;
}

Cell day_cell(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return {};
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(nanoseconds)};
  return to_date(std::chrono::floor<std::chrono::days>(time));
}

Cell half_cell(const std::optional<FleetTrend>& trend, double FleetTrend::*half) {
  return trend ? Cell((*trend).*half) : Cell();
}

Cell half_time_cell(const std::optional<FleetTrend>& trend, double FleetTrend::*half) {
  return trend ? Cell(row_time((*trend).*half)) : Cell();
}

Cell share_cell(const std::optional<double>& share) {
  return share ? Cell(*share) : Cell();
}

/// How well a narrow page can do without some columns of a job that got slower.
enum SpareOfSlowdowns : std::uint8_t { kSpareRuns = 1, kSpareShares };

std::vector<Cell> slowdown_cells(const JobHistory& job, const JobSlowdown& slowdown) {
  const JobRun& first = job.runs[slowdown.run];
  return {job.job,
          day_cell(first.recorded_ns),
          day_cell(slowdown.until ? job.runs[*slowdown.until].recorded_ns : 0),
          row_time(slowdown.before_us),
          row_time(slowdown.after_us),
          share_cell(job.runs[slowdown.typical_before].input_share),
          share_cell(job.runs[slowdown.typical_after].input_share),
          count_cell(job.runs.size()),
          text_or_unknown(describe_cause(job, slowdown)),
          first.trace};
}

}  // namespace

double to_hours(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / kNanosecondsPerHour;
}

Picoseconds row_time(double microseconds) {
  constexpr double kLongest = 9e12;  // about what fits
  return static_cast<Picoseconds>(std::clamp(microseconds, 0.0, kLongest) * kPicosecondsPerMicrosecond);
}

DataTable culprit_table(const Fleet& fleet, const FleetView& view) {
  return loss_table({{"dataset", "culprit", ColumnKind::text},
                     {"kind", "kind", ColumnKind::text},
                     {"limiting_resource", "limited by", ColumnKind::text}},
                    fleet.culprits, culprit_cells, view);
}

DataTable line_table(const Fleet& fleet, const FleetView& view) {
  return loss_table(
      {{"source", "line", ColumnKind::path}, {"dataset", "culprit", ColumnKind::text}}, fleet.lines,
      [](const FleetCause& cause) {
        return std::vector<Cell>{cause.source, cause.culprit_dataset};
      },
      view);
}

DataTable rule_table(const Fleet& fleet, const FleetView& view) {
  return loss_table(
      {{"rule", "rule", ColumnKind::text}}, fleet.rules,
      [](const FleetCause& cause) { return std::vector<Cell>{cause.rule}; }, view);
}

DataTable group_table(const Fleet& fleet, const FleetView& view) {
  return loss_table(
      {{"group", "group", ColumnKind::text}}, fleet.groups,
      [](const FleetCause& cause) { return std::vector<Cell>{cause.group}; }, view);
}

DataTable pipeline_table(const Fleet& fleet, const FleetView& view) {
  DataTable table;
  table.columns = {{"signature", "pipeline", ColumnKind::text},
                   {"lost_hours", "lost", ColumnKind::hours},
                   {"traces", "traces", ColumnKind::count},
                   {"jobs", "jobs", ColumnKind::count},
                   {"first_day", "first", ColumnKind::text},
                   {"last_day", "last", ColumnKind::text},
                   {"input_share_earlier", "share", ColumnKind::share},
                   {"input_share_later", "later", ColumnKind::share},
                   {"get_next_p50_earlier_us", "GetNext p50", ColumnKind::time},
                   {"get_next_p50_later_us", "later", ColumnKind::time},
                   {"example", "example", ColumnKind::path}};
  for (std::size_t index = 0; index < shown_count(fleet.pipelines, view.top); ++index) {
    const FleetPipeline& pipeline = fleet.pipelines[index];
    table.rows.push_back({pipeline.signature, to_hours(pipeline.lost_ns), count_cell(pipeline.traces),
                          count_cell(pipeline.jobs), day_cell(pipeline.first_ns), day_cell(pipeline.last_ns),
                          half_cell(pipeline.input_share, &FleetTrend::earlier),
                          half_cell(pipeline.input_share, &FleetTrend::later),
                          half_time_cell(pipeline.get_next_p50, &FleetTrend::earlier),
                          half_time_cell(pipeline.get_next_p50, &FleetTrend::later), pipeline.example});
  }
  return table;
}

DataTable regression_table(const Fleet& fleet, const FleetView& view) {
  DataTable table;
  table.columns = {{"signature", "pipeline", ColumnKind::text},
                   {"lost_hours", "lost", ColumnKind::hours},
                   {"get_next_p50_earlier_us", "GetNext p50", ColumnKind::time},
                   {"get_next_p50_later_us", "later", ColumnKind::time},
                   {"earlier_traces", "traces", ColumnKind::count},
                   {"later_traces", "later", ColumnKind::count},
                   {"p_value", "p", ColumnKind::number},
                   {"example", "example", ColumnKind::path}};
  for (std::size_t index = 0; index < shown_count(fleet.regressions, view.top); ++index) {
    const FleetPipeline& pipeline = fleet.pipelines[fleet.regressions[index]];
    table.rows.push_back({pipeline.signature, to_hours(pipeline.lost_ns),
                          half_time_cell(pipeline.get_next_p50, &FleetTrend::earlier),
                          half_time_cell(pipeline.get_next_p50, &FleetTrend::later), count_cell(pipeline.earlier_count),
                          count_cell(pipeline.later_count), pipeline.p_value.value_or(1), pipeline.example});
  }
  return table;
}

DataTable slowdown_table(const Fleet& fleet, const FleetView& view) {
  DataTable table;
  table.columns = {{"job", "job", ColumnKind::text},
                   {"since_day", "since", ColumnKind::text},
                   {"until_day", "until", ColumnKind::text, true},
                   {"step_before_us", "step", ColumnKind::time},
                   {"step_after_us", "then", ColumnKind::time},
                   {"input_share_before", "waits", ColumnKind::share, false, kSpareShares},
                   {"input_share_after", "then", ColumnKind::share, false, kSpareShares},
                   {"runs", "runs", ColumnKind::count, false, kSpareRuns},
                   {"changed", "what changed", ColumnKind::text, true},
                   {"trace", "first slower one", ColumnKind::path}};
  for (std::size_t index = 0; index < shown_count(fleet.slower_jobs, view.top); ++index) {
    const JobHistory& job = fleet.slower_jobs[index];
    for (const JobSlowdown& slowdown : job.slowdowns) table.rows.push_back(slowdown_cells(job, slowdown));
  }
  return table;
}

DataTable error_table(const Fleet& fleet, const FleetView& view) {
  DataTable table;
  table.columns = {{"reason", "could not be read", ColumnKind::text},
                   {"traces", "traces", ColumnKind::count},
                   {"example", "example", ColumnKind::path}};
  for (std::size_t index = 0; index < shown_count(fleet.errors, view.top); ++index) {
    const FleetError& error = fleet.errors[index];
    table.rows.push_back({error.reason, count_cell(error.traces), error.example});
  }
  return table;
}

DataTable cause_table(const Fleet& fleet, const FleetView& view) {
  DataTable table;
  table.columns = {{"by", "by", ColumnKind::text},
                   {"dataset", "culprit", ColumnKind::text},
                   {"kind", "kind", ColumnKind::text},
                   {"limiting_resource", "limited by", ColumnKind::text},
                   {"rule", "rule", ColumnKind::text}};
  append_loss_columns(table, view);
  table.columns.push_back({"source", "line", ColumnKind::path});
  if (!fleet.grouped_by.empty()) table.columns.push_back({"group", "group", ColumnKind::text});
  const auto append = [&](const char* by, const std::vector<FleetCause>& causes) {
    for (std::size_t index = 0; index < shown_count(causes, view.top); ++index) {
      const FleetCause& cause = causes[index];
      std::vector<Cell> cells = culprit_cells(cause);
      cells.insert(cells.begin(), by);
      cells.push_back(text_or_unknown(cause.rule));
      append_row(table, std::move(cells), cause, view);
      table.rows.back().push_back(text_or_unknown(cause.source));
      if (!fleet.grouped_by.empty()) table.rows.back().push_back(text_or_unknown(cause.group));
    }
  };
  append("culprit", fleet.culprits);
  append("line", fleet.lines);
  append("rule", fleet.rules);
  append("group", fleet.groups);
  return table;
}

}  // namespace doctor
