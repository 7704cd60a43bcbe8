#include "fleet/fleet_report.h"

#include <fmt/format.h>

#include <array>
#include <string_view>

#include "fleet/fleet_tables.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "text/text_page.h"

namespace doctor {
namespace {

struct Section {
  std::string_view title;
  DataTable table;
  std::size_t count;  ///< of all entries
};

/// The rankings that have something in them.
std::vector<Section> sections_of(const Fleet& fleet, std::size_t top) {
  std::array<Section, 5> all = {{
      {"What the time is lost to", culprit_table(fleet, top), fleet.culprits.size()},
      {"What rules found (a trace counts for each of its findings)", rule_table(fleet, top), fleet.rules.size()},
      {"Pipelines (first and later half of their recordings)", pipeline_table(fleet, top), fleet.pipelines.size()},
      {"Pipelines that became slower", regression_table(fleet, top), fleet.regressions.size()},
      {"Traces that could not be diagnosed", error_table(fleet, top), fleet.errors.size()},
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

/// "3.2 of 12.5 recorded hours lost to input, in 120 jobs".
std::string summary_of(const Fleet& fleet) {
  if (!fleet.has_verdict()) return fmt::format("none of {} has a verdict", format_count(fleet.rows, "row"));
  return fmt::format("{:.4g} of {:.4g} recorded hours lost to input, in {}", to_hours(fleet.lost_ns),
                     to_hours(fleet.window_ns), format_count(fleet.jobs, "job"));
}

std::string verdicts_of(const Fleet& fleet) {
  std::string text;
  for (const auto& [verdict, count] : fleet.verdicts) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", verdict, format_count(count));
  }
  return text;
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

std::string render_fleet_text(const Fleet& fleet, std::size_t top, const TextStyle& style) {
  TextPage page(style.color, style.width);
  page.headline(status_of(fleet), summary_of(fleet), tone_of(fleet));
  if (fleet.has_verdict()) page.row("verdicts", verdicts_of(fleet));
  for (const std::string& caution : cautions_of(fleet)) page.row("left out", caution);
  std::string text = page.take();
  for (const Section& section : sections_of(fleet, top)) {
    text += "\n" + render_table_text(section.table, section.title, section.count, style.width);
  }
  return text;
}

std::string render_fleet_markdown(const Fleet& fleet, std::size_t top) {
  std::string text = fmt::format("### tfdata-doctor fleet: {}\n\n{}\n", escape_for_markdown(status_of(fleet)),
                                 escape_for_markdown(summary_of(fleet)));
  if (fleet.has_verdict()) text += "\n" + escape_for_markdown("Verdicts: " + verdicts_of(fleet)) + "\n";
  for (const std::string& caution : cautions_of(fleet))
    text += "\n" + escape_for_markdown("Left out: " + caution) + "\n";
  for (const Section& section : sections_of(fleet, top)) {
    text += fmt::format("\n#### {}\n\n{}", section.title, table_markdown(section.table));
  }
  return text;
}

std::string render_fleet_csv(const Fleet& fleet, std::size_t top) {
  return table_csv(cause_table(fleet, top));
}

}  // namespace doctor
