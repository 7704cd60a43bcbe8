#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "fleet/fleet_pages.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/text_page.h"

namespace doctor {
namespace {

struct Section {
  std::string title;
  DataTable table;
  std::size_t count;  ///< of all entries
};

/// The rankings that have something in them.
std::vector<Section> sections_of(const Fleet& fleet, const FleetView& view) {
  std::array<Section, 8> all = {{
      {"What the time is lost to", culprit_table(fleet, view), fleet.culprits.size()},
      {"Lines of code that made the culprits", line_table(fleet, view), fleet.lines.size()},
      {"What rules found (a trace counts for each of its findings)", rule_table(fleet, view), fleet.rules.size()},
      {"Groups by " + fleet.grouped_by, group_table(fleet, view), fleet.groups.size()},
      {"Jobs that got slower (median step before and after)", slowdown_table(fleet, view),
       slowdown_table(fleet, {}).rows.size()},
      {"Pipelines (first and later half of their recordings)", pipeline_table(fleet, view), fleet.pipelines.size()},
      {"Pipelines that became slower", regression_table(fleet, view), fleet.regressions.size()},
      {"Traces that could not be diagnosed", error_table(fleet, view), fleet.errors.size()},
  }};
  std::vector<Section> sections;
  for (Section& section : all) {
    if (section.count > 0) sections.push_back(std::move(section));
  }
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

/// What fixes would save, a label and a line each; nothing where nothing is predicted.
std::vector<std::pair<std::string_view, std::string>> savings_of(const Fleet& fleet, const FleetView& view) {
  std::vector<std::pair<std::string_view, std::string>> savings;
  if (!fleet.has_verdict() || (fleet.saved.traces == 0 && !view.price)) return savings;
  savings.emplace_back("If fixed", saving_of_all(fleet));
  if (view.price) savings.emplace_back("Money", money_of_all(fleet, *view.price));
  return savings;
}

std::string verdicts_of(const Fleet& fleet) {
  std::string text;
  for (const auto& [verdict, count] : fleet.verdicts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", verdict, format_count(count));
  }
  return text;
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

/// What does not count, a clause each.
std::vector<std::string> cautions_of(const Fleet& fleet) {
  std::vector<std::string> cautions;
  if (fleet.repeated > 0) {
    cautions.push_back(
        fmt::format("{} with the content of another: each content counts once", format_count(fleet.repeated, "row")));
  }
  if (fleet.not_rows > 0) {
    cautions.push_back(
        fmt::format("{}, the first: {}",
                    fleet.not_rows == 1 ? "1 line is not a row" : format_count(fleet.not_rows) + " lines are not rows",
                    fleet.first_not_row));
  }
  return cautions;
}

Tone tone_of(const Fleet& fleet) {
  return fleet.has_verdict() ? Tone::plain : Tone::unsure;
}

}  // namespace

std::string render_fleet_summary(const Fleet& fleet, const TextStyle& style) {
  TextPage page(style.color, style.width);
  page.headline(status_of(fleet), summary_of(fleet), tone_of(fleet));
  return page.take();
}

std::string render_fleet_text(const Fleet& fleet, const FleetView& view, const TextStyle& style) {
  TextPage page(style.color, style.width);
  page.headline(status_of(fleet), summary_of(fleet), tone_of(fleet));
  if (fleet.has_verdict()) page.row("Verdicts", verdicts_of(fleet));
  for (const auto& [label, text] : savings_of(fleet, view)) page.row(label, text);
  if (const std::string slower = slower_of(fleet); !slower.empty()) page.row("Slower", slower);
  for (const std::string& caution : cautions_of(fleet)) page.row("Left out", caution);
  std::string text = page.take();
  for (const Section& section : sections_of(fleet, view)) {
    text += "\n" + render_table_text(section.table, section.title, section.count, style.width);
  }
  return text;
}

std::string render_fleet_markdown(const Fleet& fleet, const FleetView& view) {
  std::string text = fmt::format("### tfdata-doctor fleet: {}\n\n{}\n", escape_for_markdown(status_of(fleet)),
                                 escape_for_markdown(summary_of(fleet)));
  if (fleet.has_verdict()) text += "\n" + escape_for_markdown("Verdicts: " + verdicts_of(fleet)) + "\n";
  for (const auto& [label, line] : savings_of(fleet, view)) {
    text += "\n" + escape_for_markdown(fmt::format("{}: {}", label, line)) + "\n";
  }
  if (const std::string slower = slower_of(fleet); !slower.empty()) {
    text += "\n" + escape_for_markdown("Slower: " + slower) + "\n";
  }
  for (const std::string& caution : cautions_of(fleet))
    text += "\n" + escape_for_markdown("Left out: " + caution) + "\n";
  for (const Section& section : sections_of(fleet, view)) {
    text += fmt::format("\n#### {}\n\n{}", escape_for_markdown(section.title), table_markdown(section.table));
  }
  return text;
}

std::string render_fleet_csv(const Fleet& fleet, const FleetView& view) {
  return table_csv(cause_table(fleet, view));
}

}  // namespace doctor
