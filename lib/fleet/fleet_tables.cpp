#include <algorithm>
#include <chrono>
#include <functional>
#include <span>
#include <utility>

#include "base/time.h"
#include "fleet/fleet_pages.h"
#include "text/numbers.h"

namespace doctor {
namespace {

constexpr double kNanosecondsPerHour = 3.6e12;

template <typename Items>
std::span<const typename Items::value_type> shown(const Items& items, std::size_t top) {
  return std::span(items).first(top == 0 ? items.size() : std::min(top, items.size()));
}

using CauseFields = std::vector<Field<FleetCause>>;

/// How well a narrow page can do without the columns about savings; what is at the lower end is left out first.
enum SpareOfSavings : std::uint8_t { kSpareEstimate = 1, kSpareTraces, kSpareLow };

Cell saved(const FleetSaving& saving, std::int64_t nanoseconds, double price = 1) {
  return saving.traces > 0 ? Cell(to_hours(nanoseconds) * price) : Cell();
}

/// The fields of a cause, with those of what it costs.
CauseFields with_losses(CauseFields fields, const FleetView& view) {
  const CauseFields losses = {
      {{"lost_hours", "lost", ColumnKind::hours}, [](const auto& cause) { return to_hours(cause.lost_ns); }},
      {{"share", "share", ColumnKind::share}, &FleetCause::share},
      {{"traces", "traces", ColumnKind::count}, [](const auto& cause) { return count_cell(cause.traces); }},
      {{"jobs", "jobs", ColumnKind::count}, [](const auto& cause) { return count_cell(cause.jobs); }},
      {{"predicted_traces", "predicted", ColumnKind::count, true, kSpareTraces},
       [](const auto& cause) { return count_cell(cause.saved.traces); }},
      {{"saved_hours", "saved", ColumnKind::hours, true, kSpareEstimate},
       [](const auto& cause) { return saved(cause.saved, cause.saved.ns); }},
      {{"saved_low_hours", "low end", ColumnKind::hours, true, kSpareLow},
       [](const auto& cause) { return saved(cause.saved, cause.saved.low_ns); }}};
  fields.insert(fields.end(), losses.begin(), losses.end());
  if (view.price) {
    fields.push_back({{"saved_money", "money saved", ColumnKind::number, true, kSpareEstimate},
                      [price = *view.price](const auto& cause) { return saved(cause.saved, cause.saved.ns, price); }});
    fields.push_back(
        {{"saved_low_money", "low end", ColumnKind::number, true, kSpareLow},
         [price = *view.price](const auto& cause) { return saved(cause.saved, cause.saved.low_ns, price); }});
  }
  fields.push_back({{"example", "example", ColumnKind::path}, &FleetCause::example});
  return fields;
}

DataTable loss_table(CauseFields fields, const std::vector<FleetCause>& causes, const FleetView& view) {
  return table_of(with_losses(std::move(fields), view), shown(causes, view.top));
}

/// A text of a cause, nothing where it is empty.
template <std::string FleetCause::*kText>
Cell text_of(const FleetCause& cause) {
  return text_cell(cause.*kText);
}

Cell dataset_of(const FleetCause& cause) {
  const bool is_unknown =
      cause.culprit_kind.empty() && cause.rule.empty() && cause.source.empty() && cause.group.empty();
  return is_unknown ? "no culprit" : cause.culprit_dataset;
}

const CauseFields& culprit_fields() {
  static const CauseFields fields = {
      {{"dataset", "culprit", ColumnKind::text}, dataset_of},
      {{"kind", "kind", ColumnKind::text}, text_of<&FleetCause::culprit_kind>},
      {{"limiting_resource", "limited by", ColumnKind::text}, text_of<&FleetCause::limiting_resource>}};
  return fields;
}

Cell day_cell(std::int64_t nanoseconds) {
  if (nanoseconds == 0) return {};
  const std::chrono::sys_time<std::chrono::nanoseconds> time{std::chrono::nanoseconds(nanoseconds)};
  return to_date(std::chrono::floor<std::chrono::days>(time));
}

template <double FleetTrend::*kHalf>
Cell input_share_of(const FleetPipeline& pipeline) {
  return pipeline.input_share ? Cell((*pipeline.input_share).*kHalf) : Cell();
}

template <double FleetTrend::*kHalf>
Cell get_next_of(const FleetPipeline& pipeline) {
  return pipeline.get_next_p50 ? Cell(row_time((*pipeline.get_next_p50).*kHalf)) : Cell();
}

/// How well a narrow page can do without some columns of a job that got slower.
enum SpareOfSlowdowns : std::uint8_t { kSpareRuns = 1, kSpareShares };

struct SlowerJob {
  const JobHistory& job;
  const JobSlowdown& slowdown;

  const JobRun& first() const { return job.runs[slowdown.run]; }
};

}  // namespace

double to_hours(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / kNanosecondsPerHour;
}

Picoseconds row_time(double microseconds) {
  constexpr double kLongest = 9e12;  // about what fits
  return static_cast<Picoseconds>(std::clamp(microseconds, 0.0, kLongest) * kPicosecondsPerMicrosecond);
}

DataTable culprit_table(const Fleet& fleet, const FleetView& view) {
  return loss_table(culprit_fields(), fleet.culprits, view);
}

DataTable line_table(const Fleet& fleet, const FleetView& view) {
  return loss_table({{{"source", "line", ColumnKind::path}, &FleetCause::source},
                     {{"dataset", "culprit", ColumnKind::text}, &FleetCause::culprit_dataset}},
                    fleet.lines, view);
}

DataTable rule_table(const Fleet& fleet, const FleetView& view) {
  return loss_table({{{"rule", "rule", ColumnKind::text}, &FleetCause::rule}}, fleet.rules, view);
}

DataTable group_table(const Fleet& fleet, const FleetView& view) {
  return loss_table({{{"group", "group", ColumnKind::text}, &FleetCause::group}}, fleet.groups, view);
}

DataTable pipeline_table(const Fleet& fleet, const FleetView& view) {
  static const std::vector<Field<FleetPipeline>> fields = {
      {{"signature", "pipeline", ColumnKind::text}, &FleetPipeline::signature},
      {{"lost_hours", "lost", ColumnKind::hours}, [](const auto& one) { return to_hours(one.lost_ns); }},
      {{"traces", "traces", ColumnKind::count}, [](const auto& one) { return count_cell(one.traces); }},
      {{"jobs", "jobs", ColumnKind::count}, [](const auto& one) { return count_cell(one.jobs); }},
      {{"first_day", "first", ColumnKind::text}, [](const auto& one) { return day_cell(one.first_ns); }},
      {{"last_day", "last", ColumnKind::text}, [](const auto& one) { return day_cell(one.last_ns); }},
      {{"input_share_earlier", "share", ColumnKind::share}, input_share_of<&FleetTrend::earlier>},
      {{"input_share_later", "later", ColumnKind::share}, input_share_of<&FleetTrend::later>},
      {{"get_next_p50_earlier_us", "GetNext p50", ColumnKind::time}, get_next_of<&FleetTrend::earlier>},
      {{"get_next_p50_later_us", "later", ColumnKind::time}, get_next_of<&FleetTrend::later>},
      {{"example", "example", ColumnKind::path}, &FleetPipeline::example}};
  return table_of(fields, shown(fleet.pipelines, view.top));
}

DataTable regression_table(const Fleet& fleet, const FleetView& view) {
  static const std::vector<Field<FleetPipeline>> fields = {
      {{"signature", "pipeline", ColumnKind::text}, &FleetPipeline::signature},
      {{"lost_hours", "lost", ColumnKind::hours}, [](const auto& one) { return to_hours(one.lost_ns); }},
      {{"get_next_p50_earlier_us", "GetNext p50", ColumnKind::time}, get_next_of<&FleetTrend::earlier>},
      {{"get_next_p50_later_us", "later", ColumnKind::time}, get_next_of<&FleetTrend::later>},
      {{"earlier_traces", "traces", ColumnKind::count}, [](const auto& one) { return count_cell(one.earlier_count); }},
      {{"later_traces", "later", ColumnKind::count}, [](const auto& one) { return count_cell(one.later_count); }},
      {{"p_value", "p", ColumnKind::number}, [](const auto& one) { return one.p_value.value_or(1); }},
      {{"example", "example", ColumnKind::path}, &FleetPipeline::example}};
  std::vector<std::reference_wrapper<const FleetPipeline>> slower;
  for (const std::size_t index : shown(fleet.regressions, view.top)) slower.emplace_back(fleet.pipelines[index]);
  return table_of(fields, slower);
}

DataTable slowdown_table(const Fleet& fleet, const FleetView& view) {
  static const std::vector<Field<SlowerJob>> fields = {
      {{"job", "job", ColumnKind::text}, [](const auto& one) { return one.job.job; }},
      {{"since_day", "since", ColumnKind::text}, [](const auto& one) { return day_cell(one.first().recorded_ns); }},
      {{"until_day", "until", ColumnKind::text, true},
       [](const auto& one) {
         return one.slowdown.until ? day_cell(one.job.runs[*one.slowdown.until].recorded_ns) : Cell();
       }},
      {{"step_before_us", "step", ColumnKind::time}, [](const auto& one) { return row_time(one.slowdown.before_us); }},
      {{"step_after_us", "then", ColumnKind::time}, [](const auto& one) { return row_time(one.slowdown.after_us); }},
      {{"input_share_before", "waits", ColumnKind::share, false, kSpareShares},
       [](const auto& one) { return cell_or_unknown(one.job.runs[one.slowdown.typical_before].input_share); }},
      {{"input_share_after", "then", ColumnKind::share, false, kSpareShares},
       [](const auto& one) { return cell_or_unknown(one.job.runs[one.slowdown.typical_after].input_share); }},
      {{"runs", "runs", ColumnKind::count, false, kSpareRuns},
       [](const auto& one) { return count_cell(one.job.runs.size()); }},
      {{"changed", "what changed", ColumnKind::text, true},
       [](const auto& one) { return text_cell(describe_cause(one.job, one.slowdown)); }},
      {{"trace", "first slower one", ColumnKind::path}, [](const auto& one) { return one.first().trace; }}};
  std::vector<SlowerJob> slower;
  for (const JobHistory& job : shown(fleet.slower_jobs, view.top)) {
    for (const JobSlowdown& slowdown : job.slowdowns) slower.push_back({job, slowdown});
  }
  return table_of(fields, slower);
}

DataTable error_table(const Fleet& fleet, const FleetView& view) {
  static const std::vector<Field<FleetError>> fields = {
      {{"reason", "could not be read", ColumnKind::text}, &FleetError::reason},
      {{"traces", "traces", ColumnKind::count}, [](const auto& one) { return count_cell(one.traces); }},
      {{"example", "example", ColumnKind::path}, &FleetError::example}};
  return table_of(fields, shown(fleet.errors, view.top));
}

DataTable cause_table(const Fleet& fleet, const FleetView& view) {
  DataTable table;
  const auto append = [&](std::string by, const std::vector<FleetCause>& causes) {
    CauseFields fields = {{{"by", "by", ColumnKind::text}, [&](const auto&) { return by; }}};
    fields.insert(fields.end(), culprit_fields().begin(), culprit_fields().end());
    fields.push_back({{"rule", "rule", ColumnKind::text}, text_of<&FleetCause::rule>});
    fields = with_losses(std::move(fields), view);
    fields.push_back({{"source", "line", ColumnKind::path}, text_of<&FleetCause::source>});
    if (!fleet.grouped_by.empty()) {
      fields.push_back({{"group", "group", ColumnKind::text}, text_of<&FleetCause::group>});
    }
    DataTable part = table_of(fields, shown(causes, view.top));
    table.columns = std::move(part.columns);
    table.rows.insert(table.rows.end(), part.rows.begin(), part.rows.end());
  };
  append("culprit", fleet.culprits);
  append("line", fleet.lines);
  append("rule", fleet.rules);
  append("group", fleet.groups);
  return table;
}

}  // namespace doctor
