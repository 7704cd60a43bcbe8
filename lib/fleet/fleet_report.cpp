#include <fmt/format.h>

#include "base/time.h"
#include "fleet/fleet_pages.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/text_page.h"

namespace doctor {
namespace {

constexpr double kNanosecondsPerHour = 3.6e12;

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
  return table_of(with_losses(std::move(fields), view), shown_entries(causes, view));
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

/// Microseconds of a row as a time; an absurdly large value becomes the longest time there is.
Picoseconds row_time(double microseconds) {
  constexpr double kLongest = 9e12;  // about what fits
  return static_cast<Picoseconds>(std::clamp(microseconds, 0.0, kLongest) * kPicosecondsPerMicrosecond);
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

template <typename Pipelines>
DataTable pipeline_table(const Pipelines& pipelines) {
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
      {{"p_value", "p", ColumnKind::number, true, 1}, [](const auto& one) { return cell_or_unknown(one.p_value); }},
      {{"example", "example", ColumnKind::path}, &FleetPipeline::example}};
  return table_of(fields, pipelines);
}

/// The times at which jobs got slower, a row each.
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
  for (const JobHistory& job : shown_entries(fleet.slower_jobs, view)) {
    for (const JobSlowdown& slowdown : job.slowdowns) slower.push_back({job, slowdown});
  }
  return table_of(fields, slower);
}

/// Culprits, lines, rules and groups together, distinguished by the first column.
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
    DataTable part = table_of(fields, shown_entries(causes, view));
    table.columns = std::move(part.columns);
    table.rows.insert(table.rows.end(), part.rows.begin(), part.rows.end());
  };
  append("culprit", fleet.culprits);
  append("line", fleet.lines);
  append("rule", fleet.rules);
  append("group", fleet.groups);
  return table;
}

/// The rankings that have something in them.
std::vector<PageRows> sections_of(const Fleet& fleet, const FleetView& view) {
  std::vector<std::reference_wrapper<const FleetPipeline>> slower;
  for (const std::size_t index : shown_entries(fleet.regressions, view)) slower.emplace_back(fleet.pipelines[index]);
  std::vector<PageRows> sections = {
      {culprit_table(fleet, view), "What the time is lost to", fleet.culprits.size()},
      {line_table(fleet, view), "Lines of code that made the culprits", fleet.lines.size()},
      {rule_table(fleet, view), "What rules found (a trace counts for each of its findings)", fleet.rules.size()},
      {group_table(fleet, view), "Groups by " + fleet.grouped_by, fleet.groups.size()},
      {slowdown_table(fleet, view), "Jobs that got slower (median step before and after)",
       slowdown_table(fleet, {}).rows.size()},
      {pipeline_table(shown_entries(fleet.pipelines, view)), "Pipelines (first and later half of their recordings)",
       fleet.pipelines.size()},
      {pipeline_table(slower), "Pipelines that became slower", fleet.regressions.size()},
      {error_table(fleet, view), "Traces that could not be diagnosed", fleet.errors.size()},
  };
  std::erase_if(sections, [](const PageRows& rows) { return rows.row_count == 0; });
  return sections;
}

std::string status_of(const Fleet& fleet) {
  return fleet.has_verdict() ? format_count(fleet.rows, "trace") : "NOTHING TO RANK";
}

/// "3.2 h of 12.5 h recorded lost to input, in 120 jobs".
std::string summary_of(const Fleet& fleet) {
  if (!fleet.has_verdict()) return fmt::format("none of {} has a verdict", format_count(fleet.rows, "row"));
  return fmt::format("{} of {} recorded lost to input, in {}", format_hours(to_hours(fleet.lost_ns)),
                     format_hours(to_hours(fleet.window_ns)), format_count(fleet.jobs, "job"));
}

/// "1.2 h of 12.5 h recorded saved (9.6%), 1 h at the low end; predicted for 12 of 20 traces", with the best fix of
/// each.
std::string saving_of_all(const Fleet& fleet) {
  const double share =
      fleet.window_ns > 0 ? static_cast<double>(fleet.saved.ns) / static_cast<double>(fleet.window_ns) : 0;
  std::string text = fmt::format("{} of {} recorded saved ({}), {} at the low end; predicted for {} of {}",
                                 format_hours(to_hours(fleet.saved.ns)), format_hours(to_hours(fleet.window_ns)),
                                 format_share(share), format_hours(to_hours(fleet.saved.low_ns)),
                                 format_count(fleet.saved.traces), format_count(fleet.rows, "trace"));
  if (fleet.saved.conditional_traces > 0) {
    text += fmt::format(", for {} of them on a condition", format_count(fleet.saved.conditional_traces));
  }
  return text;
}

std::string money_of_all(const Fleet& fleet, double price) {
  return fmt::format("{} saved, {} at the low end, at {} an hour", format_number(to_hours(fleet.saved.ns) * price),
                     format_number(to_hours(fleet.saved.low_ns) * price), format_number(price));
}

/// "2 jobs; jobs/a most, since 2026-11-20 08:28:02: a step takes 16.4 ms, not 12.1 ms (limited by cores -> thread)": of
/// the jobs that are slower to this day; empty if none is.
std::string slower_of(const Fleet& fleet) {
  const auto lasts = [](const JobHistory& job) { return !job.worst().until; };
  const auto count = std::count_if(fleet.slower_jobs.begin(), fleet.slower_jobs.end(), lasts);
  if (count == 0) return {};
  const JobHistory& job = fleet.slower_jobs.front();
  const JobSlowdown& slowdown = job.worst();
  const std::string since = to_timestamp(job.runs[slowdown.run].recorded_ns);
  const std::string cause = describe_cause(job, slowdown);
  const std::string which =
      count == 1 ? job.job : fmt::format("{}; most of all {}", format_count(count, "job"), job.job);
  return fmt::format("{} since {} {}: a step takes {}, not {}{}", which, since.substr(0, 10), since.substr(11, 8),
                     format_time(row_time(slowdown.after_us)), format_time(row_time(slowdown.before_us)),
                     cause.empty() ? "" : " (" + cause + ")");
}

/// What is said above the rankings, a label and a line each.
std::vector<std::pair<std::string_view, std::string>> facts_of(const Fleet& fleet, const FleetView& view) {
  std::vector<std::pair<std::string_view, std::string>> facts;
  if (fleet.has_verdict()) {
    facts.emplace_back("Verdicts", joined(fleet.verdicts, ", ", [](const auto& verdict) {
                         return verdict.first + " " + format_count(verdict.second);
                       }));
  }
  if (fleet.has_verdict() && (fleet.saved.traces > 0 || view.price)) {
    facts.emplace_back("If fixed", saving_of_all(fleet));
    if (view.price) facts.emplace_back("Money", money_of_all(fleet, *view.price));
  }
  if (std::string slower = slower_of(fleet); !slower.empty()) facts.emplace_back("Slower", std::move(slower));
  if (fleet.repeated > 0) {
    facts.emplace_back("Left out", fmt::format("{} with the content of another: each content counts once",
                                               format_count(fleet.repeated, "row")));
  }
  if (fleet.not_rows > 0) {
    facts.emplace_back(
        "Left out",
        fmt::format("{}, the first: {}",
                    fleet.not_rows == 1 ? "1 line is not a row" : format_count(fleet.not_rows) + " lines are not rows",
                    fleet.first_not_row));
  }
  return facts;
}

Tone tone_of(const Fleet& fleet) {
  return fleet.has_verdict() ? Tone::plain : Tone::unsure;
}

}  // namespace

double to_hours(std::int64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / kNanosecondsPerHour;
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

DataTable error_table(const Fleet& fleet, const FleetView& view) {
  static const std::vector<Field<FleetError>> fields = {
      {{"reason", "could not be read", ColumnKind::text}, &FleetError::reason},
      {{"traces", "traces", ColumnKind::count}, [](const auto& one) { return count_cell(one.traces); }},
      {{"example", "example", ColumnKind::path}, &FleetError::example}};
  return table_of(fields, shown_entries(fleet.errors, view));
}

std::string render_fleet_summary(const Fleet& fleet, const TextStyle& style) {
  TextPage page(style.color, style.width);
  page.headline(status_of(fleet), summary_of(fleet), tone_of(fleet));
  return page.take();
}

std::string render_fleet_text(const Fleet& fleet, const FleetView& view, const TextStyle& style) {
  TextPage page(style.color, style.width);
  page.headline(status_of(fleet), summary_of(fleet), tone_of(fleet));
  for (const auto& [label, words] : facts_of(fleet, view)) page.row(label, words);
  std::string text = page.take();
  for (const PageRows& rows : sections_of(fleet, view)) text += "\n" + rows_text(rows, style.width);
  return text;
}

std::string render_fleet_markdown(const Fleet& fleet, const FleetView& view) {
  std::string text = fmt::format("### tfdata-doctor fleet: {}\n\n{}\n", escape_for_markdown(status_of(fleet)),
                                 escape_for_markdown(summary_of(fleet)));
  for (const auto& [label, words] : facts_of(fleet, view)) {
    text += "\n" + escape_for_markdown(fmt::format("{}: {}", label, words)) + "\n";
  }
  for (const PageRows& rows : sections_of(fleet, view)) {
    text += fmt::format("\n#### {}\n\n{}", escape_for_markdown(rows.note), table_markdown(rows.table));
  }
  return text;
}

std::string render_fleet_csv(const Fleet& fleet, const FleetView& view) {
  return table_csv(cause_table(fleet, view));
}

}  // namespace doctor
