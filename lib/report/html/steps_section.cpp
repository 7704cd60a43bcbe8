#include "base/ranks.h"
#include "report/html/page_parts.h"
#include "report/page.h"

namespace doctor {
namespace {

std::string describe_step(const OrderedJson& step) {
  std::string text = fmt::format("step {}: {}", words_in(step, key::step), words_in(step, key::duration_us));
  for (const StepPartNames& part : step_parts()) {
    if (const double time = number_of(step, part.key); time > 0) {
      text += fmt::format(", {} {}", part.words, format_microseconds(time));
    }
  }
  return text + (is_true(step, key::counted) ? "" : "; not counted in the averages");
}

/// One long first step would make all others invisible: the axis ends at half as much again as the 95th percentile.
double top_of(const std::vector<double>& durations) {
  constexpr double kRoom = 1.5;
  const double longest = durations.empty() ? 0 : *std::ranges::max_element(durations);
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
                      words_in(*stalls, key::count), words_in(*stalls, key::p50_us),
                      words_in(*stalls, key::p50_of_others_us), words_in(*stalls, key::share),
                      words_in(*stalls, key::first_call), words_in(*stalls, key::last_call),
                      words_in(*stalls, key::distance_calls)));
    }
    if (const OrderedJson* const change = find_value(*pipeline, key::pace_change)) {
      page.element("p", fmt::format("The pace changes at call {}: the median call takes {} before and {} after.",
                                    words_in(*change, key::from_call), words_in(*change, key::p50_before_us),
                                    words_in(*change, key::p50_after_us)));
    }
  }
}

/// The steps of one host: hosts run at the same time, so each has a chart of its own on the axis of all.
struct HostSteps {
  std::string host;  ///< foreign text
  std::vector<std::size_t> rows;
};

/// Stragglers first: in the order in which the report compares hosts; those that it does not know come last.
std::vector<HostSteps> steps_of_hosts(const OrderedJson& rows, const OrderedJson* report) {
  std::vector<HostSteps> hosts;
  if (report != nullptr) {
    for (const OrderedJson& host : list_of(*report, key::hosts_compared))
      hosts.push_back({text_of(host, key::host), {}});
  }
  for (std::size_t row = 0; row < rows.size(); ++row) {
    const std::string name = text_of(rows[row], key::host);
    auto known = std::ranges::find(hosts, name, &HostSteps::host);
    if (known == hosts.end()) known = hosts.insert(known, {name, {}});
    known->rows.push_back(row);
  }
  std::erase_if(hosts, [](const HostSteps& one) { return one.rows.empty(); });
  return hosts;
}

/// The numbers along the axis.
struct StepAxis {
  double first = 0;
  double last = -1;
  bool has_numbers = false;  ///< of the steps; else they are counted
};

/// The steps' own numbers, where each host has every number once and in order; else they are counted from 1. An axis
/// of many numbers without a step would be mostly empty.
StepAxis axis_of(const OrderedJson& rows, const std::vector<HostSteps>& hosts) {
  constexpr double kMostOfRows = 2;
  StepAxis axis = {1, 0, true};
  std::size_t most = 0;
  bool is_first = true;
  for (const HostSteps& host : hosts) {
    most = std::max(most, host.rows.size());
    std::optional<double> before;
    for (const std::size_t row : host.rows) {
      const std::optional<double> number = known_number(rows[row], key::step);
      axis.has_numbers = axis.has_numbers && number && (!before || *number > *before);
      if (!axis.has_numbers) break;
      axis.first = is_first ? *number : std::min(axis.first, *number);
      axis.last = is_first ? *number : std::max(axis.last, *number);
      is_first = false;
      before = number;
    }
  }
  if (axis.has_numbers && axis.last - axis.first + 1 <= kMostOfRows * static_cast<double>(most)) return axis;
  return {1, static_cast<double>(most), false};
}

StackedColumn column_of(const OrderedJson& step, std::size_t row) {
  StackedColumn column = {{}, describe_step(step), fmt::format("/steps/rows/{}", row), !is_true(step, key::counted)};
  for (const StepPartNames& part : step_parts())
    column.parts.push_back({number_of(step, part.key), std::string(part.look)});
  return column;
}

void add_host(const OrderedJson& rows, const HostSteps& host, const StepAxis& axis, double top, HtmlWriter& page) {
  ColumnChart chart;
  chart.first = axis.first;
  chart.columns.resize(static_cast<std::size_t>(axis.last - axis.first) + 1);
  std::vector<double> durations;
  for (std::size_t index = 0; index < host.rows.size(); ++index) {
    const OrderedJson& step = rows[host.rows[index]];
    const double place = axis.has_numbers ? number_of(step, key::step) - axis.first : static_cast<double>(index);
    chart.columns[static_cast<std::size_t>(place)] = column_of(step, host.rows[index]);
    durations.push_back(number_of(step, key::duration_us));
  }
  chart.top = top;
  chart.top_label = format_microseconds(top);
  chart.marked_value = median(durations);
  chart.description = fmt::format("{} as columns, each divided into what its time went to; the median is {}",
                                  format_count(host.rows.size(), "step"), format_microseconds(chart.marked_value));
  add_chart(chart, page);
}

void add_key_of_parts(const OrderedJson& rows, HtmlWriter& page) {
  page.open("p");
  for (const StepPartNames& part : step_parts()) {
    const bool is_seen =
        std::ranges::any_of(rows, [&](const OrderedJson& step) { return number_of(step, part.key) > 0; });
    if (is_seen) add_key(part.look, part.words, page);
  }
  page.close();
}

constexpr std::size_t kMostOps = 12;
constexpr std::size_t kLongestBarName = 72;  // the table has all of it

/// Which members of rows are bars.
struct BarList {
  std::string_view name_key;
  std::string_view value_key;  ///< a time in us
  std::string_view look;
};

void add_bars(const OrderedJson& rows, const BarList& list, HtmlWriter& page) {
  std::vector<BarRow> bars;
  for (std::size_t index = 0; index < std::min(rows.size(), kMostOps); ++index) {
    const OrderedJson& row = rows[index];
    std::string words = words_in(row, list.value_key);
    if (const auto count = known_number(row, key::occurrences)) words += ", " + format_number(*count) + " times";
    if (const auto share = known_number(row, key::share_of_wait)) words += ", " + format_share(*share) + " of the wait";
    bars.push_back({shortened(text_of(row, list.name_key), kLongestBarName), number_of(row, list.value_key), words});
  }
  add_bars(bars, list.look, "its time beside that of the others", page);
}

/// A section of the bars of a document's rows, and their table.
void add_rows_section(const OrderedJson& document, std::string_view id, std::string_view title, const BarList& bars,
                      HtmlWriter& page) {
  const OrderedJson& rows = list_of(document, key::rows);
  if (rows.empty()) return;
  open_folded_section(id, title, page);
  add_bars(rows, bars, page);
  add_table(table_of(std::string(title), rows), page);
  add_left_out(number_of(document, key::rows_left_out), "row", page);
  page.close(2);
}

}  // namespace

void add_steps_section(const OrderedJson& steps, const PageDocuments& documents, HtmlWriter& page) {
  if (list_of(steps, key::rows).empty()) return;
  const OrderedJson& rows = list_of(steps, key::rows);
  const OrderedJson* const report = find_document(documents, "report");
  open_section("steps", "Every step", page);
  if (report != nullptr) add_regimes(*report, page);
  std::vector<double> durations;
  for (const OrderedJson& step : rows) durations.push_back(number_of(step, key::duration_us));
  const std::vector<HostSteps> hosts = steps_of_hosts(rows, report);
  const StepAxis axis = axis_of(rows, hosts);
  add_key_of_parts(rows, page);
  add_note(fmt::format("The dashed line is the median{}. Pale steps are not counted in the averages.",
                       hosts.size() > 1 ? " of the host" : ", " + format_microseconds(median(durations))),
           page);
  for (const HostSteps& host : hosts) {
    if (hosts.size() > 1) page.element("h3", shortened(host.host));
    add_host(rows, host, axis, top_of(durations), page);
  }
  add_left_out(number_of(steps, key::rows_left_out), "step", page);
  add_table(table_of("the steps", rows), page);
  page.close();
}

void add_function_section(const OrderedJson& report, const PageDocuments& /*documents*/, HtmlWriter& page) {
  const OrderedJson* const culprit = find_value(report[key::verdict], key::culprit);
  if (culprit == nullptr || list_of(*culprit, key::function_ops).empty()) return;
  open_folded_section("function", "Inside the function of the culprit", page);
  add_note(
      "Ops that ran while the training waited for it. Ops on several threads overlap: the shares may add up to "
      "more than the whole.",
      page);
  add_bars(list_of(*culprit, key::function_ops), {"op", "self_us", "hot"}, page);
  if (const double python = number_of(*culprit, key::python_us); python > 0) {
    page.element("p", "Of that, in Python: " + format_microseconds(python) + ".");
  }
  page.close(2);
}

void add_ops_section(const OrderedJson& ops, const PageDocuments& /*documents*/, HtmlWriter& page) {
  add_rows_section(ops, "ops", "Ops, by their own time", {"name", "self_us", "s2"}, page);
}

void add_kernels_section(const OrderedJson& kernels, const PageDocuments& /*documents*/, HtmlWriter& page) {
  add_rows_section(kernels, "kernels", "Kernels on the GPUs", {"kernel_name", "total_us", "s4"}, page);
}

void add_plain_section(const OrderedJson& text, const PageDocuments& documents, HtmlWriter& page) {
  if (!text.is_string()) return;
  const std::string title = title_of(documents.begin().key());
  open_section("text", title, page);
  page.open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "group"}, {"aria-label", title}});
  page.open("pre", {{"class", "page"}});
  page.lines(text.get_ref<const std::string&>());
  page.close(3);
}

void add_hosts_section(const OrderedJson& hosts, const PageDocuments& /*documents*/, HtmlWriter& page) {
  // One host has nobody to stand beside.
  if (list_of(hosts, key::rows).size() < 2) return;
  add_rows_section(hosts, "hosts", "Hosts side by side", {"host", "mean_wait_us", "waits"}, page);
}

}  // namespace doctor
