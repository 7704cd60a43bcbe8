#include "report/html/page_parts.h"

namespace doctor {
namespace {

constexpr std::size_t kMostBars = 15;
constexpr std::size_t kMostRegressions = 12;

/// A list of causes: hours lost as bars, or money where the price of an hour is known.
struct CauseList {
  std::string_view key;  ///< of the fleet's document
  std::string_view title;
  std::string_view name;  ///< key of the cause's name
};

constexpr std::array<CauseList, 4> kCauses = {{{"culprits", "By what the training waits for", "dataset"},
                                               {"lines", "By line of code", "source"},
                                               {"rules", "By finding", "rule"},
                                               {"groups", "By group", "group"}}};

void add_causes(const OrderedJson& fleet, const CauseList& list, HtmlWriter& page) {
  const OrderedJson& causes = list_of(fleet, list.key);
  if (causes.empty()) return;
  const std::string grouped_by = list.key == "groups" ? text_of(fleet, key::grouped_by) : std::string();
  const std::string title = grouped_by.empty() ? std::string(list.title) : "By " + shortened(grouped_by);
  page.element("h3", title);
  const double price = number_of(fleet, key::price_per_hour);
  std::vector<BarRow> bars;
  for (std::size_t index = 0; index < std::min(causes.size(), kMostBars); ++index) {
    const OrderedJson& cause = causes[index];
    const double hours = number_of(cause, key::lost_hours);
    std::string what = shortened(text_of(cause, list.name));
    const std::string limit = text_of(cause, key::limiting_resource);
    if (!limit.empty() && limit != "unknown") what += " (" + limit + ")";
    std::string words = fmt::format("{}, {}", format_hours(hours), words_in(cause, key::share));
    if (price > 0) words += fmt::format(", {} of money", format_number(hours * price));
    if (const auto saved = known_number(cause, key::saved_hours)) words += "; saves " + format_hours(*saved);
    bars.push_back({std::move(what), hours, std::move(words), text_of(cause, key::example)});
  }
  add_bars(bars, "waits", "hours lost, beside those of the other causes", page);
  add_table(table_of(title, causes), page);
}

/// Where a pipeline got slower: its first call, the median of the earlier and of the later half, its last.
void add_regression(const OrderedJson& regression, HtmlWriter& page) {
  page.element("h4", shortened(text_of(regression, key::signature)));
  const OrderedJson* const trend = find_value(regression, key::get_next_p50_us);
  if (trend == nullptr) return;
  DotChart chart;
  chart.description = "Median GetNext: the first, of the earlier half, of the later half, the last";
  for (const std::string_view moment : {key::first, key::earlier, key::later, key::last}) {
    const double value = number_of(*trend, moment);
    chart.dots.push_back({value, fmt::format("{}: {}", moment, format_microseconds(value))});
  }
  chart.marks = {2};
  add_chart(chart, page);
  page.element(
      "p", fmt::format("{} \u2192 {}", words_of("us", (*trend)[key::earlier]), words_of("us", (*trend)[key::later])));
  page.open("p", {{"class", "muted"}});
  page.text(fmt::format("{} to {}, {} traces. ", text_of(regression, key::first_recorded_at),
                        text_of(regression, key::last_recorded_at), words_in(regression, key::traces)));
  add_example(text_of(regression, key::example), page);
  page.close();
}

/// "12.1 ms -> 16.4 ms (x1.36) since 2026-11-20: limited by cores -> thread. jobs/a/…": a job's slow-down and where it
/// begins.
void add_slowdown(const OrderedJson& slowdown, HtmlWriter& page) {
  const std::string until = text_of(slowdown, key::until).substr(0, 10);
  const std::string changed = text_of(slowdown, key::changed);
  page.open("p");
  page.text(fmt::format("{} \u2192 {} (x{:.3g}) since {}{}{}. First slower one: ", words_in(slowdown, key::before_us),
                        words_in(slowdown, key::after_us), number_of(slowdown, key::ratio),
                        text_of(slowdown, key::since).substr(0, 10), until.empty() ? "" : ", until " + until,
                        changed.empty() ? "" : ": " + changed));
  add_example(text_of(slowdown, key::trace), page);
  page.close();
}

void add_slower_job(const OrderedJson& job, HtmlWriter& page) {
  const OrderedJson& runs = list_of(job, key::runs);
  const std::string name = shortened(text_of(job, key::job));
  DotChart chart;
  chart.description = "Median step of each run, the oldest on the left";
  for (const OrderedJson& run : runs) {
    chart.dots.push_back({number_of(run, key::step_p50_us),
                          text_of(run, key::recorded_at).substr(0, 16) + ": " + words_in(run, key::step_p50_us)});
  }
  page.element("h4", name);
  for (const OrderedJson& slowdown : list_of(job, key::slowdowns)) {
    chart.marks.push_back(static_cast<std::size_t>(number_of(slowdown, key::run)));
    add_slowdown(slowdown, page);
  }
  add_chart(chart, page);
  add_table(table_of("runs of " + name, runs), page);
}

/// Small pictures side by side.
void add_multiples(const OrderedJson& list, void (*add)(const OrderedJson&, HtmlWriter&), HtmlWriter& page) {
  page.open("div", {{"class", "multiples"}});
  for (std::size_t index = 0; index < std::min(list.size(), kMostRegressions); ++index) {
    page.open("div");
    add(list[index], page);
    page.close();
  }
  page.close();
}

double share_of_recorded(const OrderedJson& fleet, std::string_view key) {
  const double recorded = number_of(fleet, key::recorded_hours);
  return recorded > 0 ? number_of(fleet, key) / recorded : 0;
}

/// "1.4 s of it (39 %) would be saved with the best fix of each trace": what all of this is for.
void add_savings(const OrderedJson& fleet, HtmlWriter& page) {
  const double traces = number_of(fleet, key::predicted_traces);
  if (traces == 0) return;
  std::string text = fmt::format("With the best fix of each trace {} would be saved, {} at the low end",
                                 format_hours(number_of(fleet, key::saved_hours)),
                                 format_hours(number_of(fleet, key::saved_low_hours)));
  if (const std::optional<double> money = known_number(fleet, key::saved_money)) {
    text += fmt::format(", or {} of money", format_number(*money));
  }
  text += fmt::format(": predicted for {} of {}", format_number(traces),
                      format_count(static_cast<std::size_t>(number_of(fleet[key::rows], key::counted)), "trace"));
  if (const double conditional = number_of(fleet, key::conditional_traces); conditional > 0) {
    text += fmt::format(", for {} of them on a condition", format_number(conditional));
  }
  page.element("p", text + ".");
}

/// The answer, and what it rests on.
void add_summary(const OrderedJson& fleet, HtmlWriter& page) {
  const double lost = number_of(fleet, key::lost_hours);
  page.open("section", {{"class", lost > 0 ? "verdict bad" : "verdict"}, {"aria-labelledby", "heading-answer"}});
  page.element("h1", {{"id", "heading-answer"}}, headline_of_fleet(fleet));
  page.open("p");
  page.text(fmt::format("{} of {}, ",
                        format_count(static_cast<std::size_t>(number_of(fleet[key::rows], key::counted)), "trace"),
                        format_count(static_cast<std::size_t>(number_of(fleet, key::jobs)), "job")));
  add_number(format_hours(number_of(fleet, key::recorded_hours)), number_of(fleet, key::recorded_hours),
             "/fleet/recorded_hours", page);
  page.text(" recorded, of which ");
  add_number(format_hours(lost), lost, "/fleet/lost_hours", page);
  page.text(" were spent waiting for input.");
  page.close();
  add_savings(fleet, page);
  page.open("p");
  for (const auto& [verdict, count] : fleet[key::verdicts].items()) {
    page.text(fmt::format("{}: {}. ", title_of(verdict), words_of("count", count)));
  }
  page.close(2);
}

}  // namespace

std::string headline_of_fleet(const OrderedJson& fleet) {
  if (fleet[key::verdicts].empty()) return "No trace has a verdict";
  std::string headline =
      format_share(share_of_recorded(fleet, "lost_hours")) + " of the recorded time was lost to input";
  if (number_of(fleet, key::predicted_traces) > 0) {
    headline += "; fixes would save " + format_share(share_of_recorded(fleet, "saved_hours"));
  }
  return headline;
}

void add_fleet_section(const OrderedJson& fleet, const PageDocuments& /*documents*/, HtmlWriter& page) {
  add_summary(fleet, page);
  open_section("fleet", "What the training jobs wait for", page);
  for (const CauseList& list : kCauses) add_causes(fleet, list, page);
  if (const OrderedJson& jobs = list_of(fleet, key::slower_jobs); !jobs.empty()) {
    page.element("h3", "Jobs that got slower");
    add_note(
        "Each dot is the median step of a run, from nothing at the bottom; a dashed line is where it became longer.",
        page);
    add_multiples(jobs, add_slower_job, page);
  }
  if (const OrderedJson& regressions = list_of(fleet, key::regressions); !regressions.empty()) {
    page.element("h3", "Pipelines that got slower");
    add_multiples(regressions, add_regression, page);
    add_table(table_of("pipelines that got slower", regressions), page);
  }
  page.close();
}

}  // namespace doctor
