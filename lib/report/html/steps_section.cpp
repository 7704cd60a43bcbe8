#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/ranks.h"
#include "report/html/page_parts.h"
#include "report/html/page_sections.h"
#include "report/html/picture.h"
#include "text/document_keys.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// A part of a step, as XProf's overview page has them.
struct PartOfStep {
  std::string_view key;  ///< of the document
  std::string_view words;
  std::string_view look;
};

constexpr std::array<PartOfStep, 10> kParts = {{{"input_us", "input", "waits"},
                                                {"host_compute_us", "ops on the host", "s2"},
                                                {"kernel_launch_us", "kernel launch", "s3"},
                                                {"device_compute_16_us", "device, 16 bits", "runs"},
                                                {"device_compute_32_us", "device, 32 bits", "s4"},
                                                {"device_to_device_us", "between devices", "s5"},
                                                {"copy_wait_us", "device waits for copies", "s5"},
                                                {"compilation_us", "compilation", "hot"},
                                                {"output_us", "output", "other"},
                                                {"other_us", "everything else", "gap"}}};

std::string describe_step(const OrderedJson& step) {
  std::string text = fmt::format("step {}: {}", format_number(number_of(step, key::step)),
                                 format_time(time_of(step, key::duration_us)));
  for (const PartOfStep& part : kParts) {
    if (const double time = number_of(step, part.key); time > 0) {
      text += fmt::format(", {} {}", part.words, format_time(from_microseconds(time)));
    }
  }
  return text + (is_true(step, key::counted) ? "" : "; not counted in the averages");
}

/// One long first step would make all others invisible: the axis ends at half as much again as the 95th percentile.
double top_of(const std::vector<double>& durations) {
  constexpr double kRoom = 1.5;
  const double longest = durations.empty() ? 0 : *std::max_element(durations.begin(), durations.end());
  return std::min(longest, kRoom * lower_quantile(durations, 0.95));
}

/// Stalls and changes of pace as the report has them, by pipeline.
void add_regimes(const OrderedJson& report, HtmlWriter& page) {
  for (const OrderedJson* const pipeline : drawn_pipelines(report)) {
    if (const OrderedJson* const stalls = find_value(*pipeline, key::stalls)) {
      page.element(
          "p",
          fmt::format("Stalls: {} calls take {} in the median, the others {}; they are {} of the time, calls {} to "
                      "{}, about every {} calls.",
                      format_number(number_of(*stalls, key::count)), format_time(time_of(*stalls, key::p50_us)),
                      format_time(time_of(*stalls, key::p50_of_others_us)),
                      format_share(number_of(*stalls, key::share)), format_number(number_of(*stalls, key::first_call)),
                      format_number(number_of(*stalls, key::last_call)),
                      format_number(number_of(*stalls, key::distance_calls))));
    }
    if (const OrderedJson* const change = find_value(*pipeline, key::pace_change)) {
      page.element("p", fmt::format("The pace changes at call {}: the median call takes {} before and {} after.",
                                    format_number(number_of(*change, key::from_call)),
                                    format_time(time_of(*change, key::p50_before_us)),
                                    format_time(time_of(*change, key::p50_after_us))));
    }
  }
}

}  // namespace

void add_steps_section(const PageDocuments& documents, HtmlWriter& page) {
  const OrderedJson* const steps = documents.find("steps");
  if (steps == nullptr || list_of(*steps, key::rows).empty()) return;
  const OrderedJson& rows = list_of(*steps, key::rows);
  open_section("steps", "Every step", page);
  if (const OrderedJson* const report = documents.find("report")) add_regimes(*report, page);
  std::vector<double> durations;
  std::array<bool, kParts.size()> is_seen{};
  ColumnChart chart;
  for (std::size_t index = 0; index < rows.size(); ++index) {
    const OrderedJson& step = rows[index];
    durations.push_back(number_of(step, key::duration_us));
    StackedColumn column = {
        {}, describe_step(step), fmt::format("/steps/rows/{}", index), !is_true(step, key::counted)};
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      const double time = number_of(step, kParts[part].key);
      is_seen[part] = is_seen[part] || time > 0;
      column.parts.push_back({time, std::string(kParts[part].look)});
    }
    chart.columns.push_back(std::move(column));
  }
  chart.top = top_of(durations);
  chart.top_label = format_time(from_microseconds(chart.top));
  chart.marked_value = median(durations);
  chart.description =
      fmt::format("{} as columns, each divided into what its time went to; the median is {}",
                  format_count(chart.columns.size(), "step"), format_time(from_microseconds(chart.marked_value)));
  page.open("p");
  for (std::size_t part = 0; part < kParts.size(); ++part) {
    if (is_seen[part]) add_key(kParts[part].look, kParts[part].words, page);
  }
  page.close();
  page.element("p", {{"class", "muted"}},
               fmt::format("The dashed line is the median, {}. Pale steps are not counted in the averages.",
                           format_time(from_microseconds(chart.marked_value))));
  add_chart(chart, page);
  const double left_out = number_of(*steps, key::rows_left_out);
  if (left_out > 0) page.element("p", format_number(left_out) + " later steps are left out.");
  add_table(table_of("the steps", rows), page);
  page.close();
}

}  // namespace doctor
