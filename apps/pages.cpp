#include "pages.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "base/try.h"
#include "report/html/html_page.h"
#include "report/pace_page.h"
#include "report/selection.h"
#include "report/show_pages.h"
#include "text/data_table.h"

namespace doctor {
namespace {

using Text = Result<std::string>;

/// How many calls or rows; nullopt: all.
std::optional<std::size_t> most_rows(const ShowOptions& options) {
  return options.top && *options.top > 0 ? options.top : std::nullopt;
}

/// What kRender makes of `subject`: of what is for a person in the style or the width that the options ask for.
template <auto kRender, typename... Subject>
auto rendered(const ShowOptions& options, const Subject&... subject) {
  if constexpr (std::is_invocable_v<decltype(kRender), Subject..., TextStyle>) {
    return kRender(subject..., options.style);
  } else if constexpr (std::is_invocable_v<decltype(kRender), Subject..., PageWidth>) {
    return kRender(subject..., options.style.width);
  } else {
    return kRender(subject...);
  }
}

template <typename Content>
Result<Content> without_error(Content content) {
  return content;
}

/// The same of all that was found.
template <auto kRender>
auto of_all(const ShowOptions& options, const Analysis& analysis) {
  return without_error(rendered<kRender>(options, analysis.measurements, analysis.diagnosis));
}

/// The same of that and of how many rows are asked for.
template <auto kRender>
auto of_rows(const ShowOptions& options, const Analysis& analysis) {
  return without_error(rendered<kRender>(options, analysis.measurements, analysis.diagnosis, most_rows(options)));
}

/// The same of what kChosen takes from it. Errors: those of kChosen.
template <auto kChosen, auto kRender>
auto of(const ShowOptions& options, const Analysis& analysis) {
  return kChosen(options, analysis).map([&](const auto& chosen) { return rendered<kRender>(options, chosen); });
}

CallChoice call_choice(const ShowOptions& options) {
  constexpr std::size_t kUnlessAsked = 100;
  return {options.call, options.pipeline, options.top ? most_rows(options) : kUnlessAsked};
}

void need_calls(const ShowOptions& options, AnalysisOptions& needed) {
  needed.measure.calls = call_choice(options).request();
}

Result<CallList> calls(const ShowOptions& options, const Analysis& analysis) {
  return choose_calls(analysis.measurements, analysis.diagnosis, call_choice(options));
}

TimelineChoice timeline_choice(const ShowOptions& options) {
  TimelineChoice choice = {options.call, std::nullopt, options.pipeline};
  if (options.step) choice.step = static_cast<std::int64_t>(*options.step);
  return choice;
}

void need_timelines(const ShowOptions& options, AnalysisOptions& needed) {
  needed.measure.timeline = timeline_choice(options).request();
}

Result<TimelineList> timelines(const ShowOptions& options, const Analysis& analysis) {
  if (options.call && options.step) return fail("a call and a step cannot be shown at once", "--step", "name one");
  return choose_timelines(analysis.measurements, analysis.diagnosis, timeline_choice(options));
}

std::string pace_svg(const Measurements& measurements, const Diagnosis& diagnosis) {
  return render_pace_svg(pace_json(pace_of(measurements, diagnosis)));
}

/// A page that is a table, with what it says beside its rows.
struct TablePage {
  DataTable table;
  std::string_view schema = {};
  std::string note = {};                      ///< a line above the rows in text; empty: none
  std::optional<std::size_t> row_count = {};  ///< of a table that was made without rows that are not shown anyway
};

/// The rows that the options choose. Errors: no column of that name.
Result<TablePage> chosen_rows(const ShowOptions& options, TablePage page) {
  if (!page.row_count) page.row_count = page.table.rows.size();
  return choose_rows(page.table, {options.sort, most_rows(options)}).map([&] { return std::move(page); });
}

std::string page_text(const TablePage& page, PageWidth width) {
  return render_table_text(page.table, page.note, *page.row_count, width);
}

OrderedJson page_json(const TablePage& page) {
  return table_page_json(page.table, page.schema, *page.row_count);
}

std::string page_csv(const TablePage& page) {
  return table_csv(page.table);
}

template <auto kRows>
constexpr std::initializer_list<PageFormat> kTableFormats = {{OutputFormat::text, of<kRows, page_text>},
                                                             {OutputFormat::csv, of<kRows, page_csv>}};

void need_ops(const ShowOptions& /*options*/, AnalysisOptions& needed) {
  needed.profile_parts = {.host = false, .ops = true, .memory = false, .element_types = false};
}

Result<TablePage> ops(const ShowOptions& options, const Analysis& analysis) {
  OpsChoice choice;
  choice.by = options.by_type ? OpGrouping::type : OpGrouping::name;
  choice.with_idle = options.with_idle;
  return chosen_rows(options, {ops_table(analysis.measurements, choice), "tfdata-doctor.ops/1"});
}

Result<TablePage> kernels(const ShowOptions& options, const Analysis& analysis) {
  const Measurements& measurements = analysis.measurements;
  return chosen_rows(options, {kernels_table(measurements), "tfdata-doctor.kernels/1", kernels_note(measurements)});
}

void need_steps(const ShowOptions& /*options*/, AnalysisOptions& needed) {
  needed.profile_parts = kDiagnosisParts;
}

Result<TablePage> steps(const ShowOptions& options, const Analysis& analysis) {
  const Measurements& measurements = analysis.measurements;
  const std::size_t most = options.sort ? SIZE_MAX : most_rows(options).value_or(SIZE_MAX);
  return chosen_rows(options, {steps_table(measurements, most), "tfdata-doctor.steps/1", step_note(measurements),
                               step_count(measurements)});
}

Result<TablePage> input(const ShowOptions& options, const Analysis& analysis) {
  return chosen_rows(options, {input_table(analysis.measurements)});
}

Result<OrderedJson> input_document(const ShowOptions& options, const Analysis& analysis) {
  return input(options, analysis).map([&](const TablePage& page) {
    return input_json(analysis.measurements, analysis.diagnosis, page.table);
  });
}

Text input_text(const ShowOptions& options, const Analysis& analysis) {
  return input(options, analysis).map([&](const TablePage& page) {
    const PageWidth width = options.style.width;
    return input_summary_text(analysis.measurements, analysis.diagnosis, width) + "\n" + page_text(page, width);
  });
}

Result<TablePage> hosts(const ShowOptions& options, const Analysis& analysis) {
  if (!options.by_step) {
    return chosen_rows(
        options,
        {hosts_table(analysis.measurements, analysis.diagnosis), {}, describe_comparison(analysis.diagnosis.hosts)});
  }
  const std::vector<StepOnCores> steps = steps_in_common(analysis.measurements, analysis.diagnosis);
  return chosen_rows(options, {core_waits_table(steps), "tfdata-doctor.hosts/1", core_waits_note(steps)});
}

/// The waits of cores below the hosts: what those are sorted by is a column of theirs.
TablePage waits_below_hosts(ShowOptions options, const Analysis& analysis) {
  options.by_step = true;
  options.sort.reset();
  return *hosts(options, analysis);
}

Result<OrderedJson> hosts_document(const ShowOptions& options, const Analysis& analysis) {
  return hosts(options, analysis).map([&](const TablePage& page) {
    return options.by_step ? page_json(page)
                           : hosts_json(page.table, waits_below_hosts(options, analysis).table, analysis.diagnosis);
  });
}

Text hosts_text(const ShowOptions& options, const Analysis& analysis) {
  const std::vector<StepOnCores> steps = steps_in_common(analysis.measurements, analysis.diagnosis);
  const bool has_ranges =
      std::any_of(steps.begin(), steps.end(), [](const StepOnCores& step) { return step.core_count > 1; });
  return hosts(options, analysis).map([&](const TablePage& page) {
    std::string text = page_text(page, options.style.width);
    if (options.by_step || !has_ranges) return text;
    return text + "\n" + page_text(waits_below_hosts(options, analysis), options.style.width);
  });
}

constexpr std::array<Page, 12> kPages = {{
    {.name = "pace",
     .summary = "what sets the pace: the time that each stage and the training need for one step",
     .is_drawn = true,
     .document = of_all<pace_page_json>,
     .others = {{OutputFormat::text, of_all<render_pace_text>},
                {OutputFormat::csv, of_all<render_pace_csv>},
                {OutputFormat::svg, of_all<pace_svg>}}},
    {.name = "overview",
     .summary = "step time and what it goes to, the ops that run the longest, what to do next",
     .needs_tf_data = false,
     .needs_profile = true,
     .document = of_all<overview_json>,
     .others = {{OutputFormat::text, of_all<render_overview_text>}}},
    {.name = "input",
     .summary = "the input pipeline: its share of the steps, each iterator's time and category",
     .needs_profile = true,
     .document = input_document,
     .others = {{OutputFormat::text, input_text}, {OutputFormat::csv, of<input, page_csv>}}},
    {.name = "tree",
     .summary = "the iterators with their calls and times",
     .document = of_all<tree_json>,
     .others = {{OutputFormat::text, of_all<render_tree_text>}}},
    {.name = "calls",
     .summary = "slow GetNext calls: who held them when, on which thread",
     .screenful = 10,
     .need_details = need_calls,
     .document = of<calls, calls_json>,
     .others = {{OutputFormat::text, of<calls, render_calls_text>}, {OutputFormat::csv, of<calls, render_calls_csv>}}},
    {.name = "timeline",
     .summary = "typical steps, or one call or step: when the loop waits for which stage, and when each works",
     .is_drawn = true,
     .need_details = need_timelines,
     .document = of<timelines, timeline_json>,
     .others = {{OutputFormat::text, of<timelines, render_timeline_text>},
                {OutputFormat::csv, of<timelines, render_timeline_csv>}}},
    {.name = "autotune",
     .summary = "what each stage was given and chose, and whether it binds",
     .needs_history = true,
     .document = of_all<autotune_json>,
     .others = {{OutputFormat::text, of_all<render_autotune_text>}, {OutputFormat::csv, of_all<render_autotune_csv>}}},
    {.name = "hosts",
     .summary = "the hosts of a run side by side, and the waits of its cores in each step",
     .needs_tf_data = false,
     .needs_profile = true,
     .document = hosts_document,
     .others = {{OutputFormat::text, hosts_text}, {OutputFormat::csv, of<hosts, page_csv>}}},
    {.name = "steps",
     .summary = "each step and what its time went to",
     .is_drawn = true,
     .needs_tf_data = false,
     .needs_profile = true,
     .need_details = need_steps,
     .document = of<steps, page_json>,
     .others = kTableFormats<steps>},
    {.name = "ops",
     .summary = "every op on host and device: occurrences, total and self time",
     .is_drawn = true,
     .needs_tf_data = false,
     .needs_profile = true,
     .need_details = need_ops,
     .document = of<ops, page_json>,
     .others = kTableFormats<ops>},
    {.name = "kernels",
     .summary = "every kernel on the GPUs: how it was launched, for which op, and its time",
     .is_drawn = true,
     .document = of<kernels, page_json>,
     .others = kTableFormats<kernels>},
    {.name = "memory",
     .summary = "what allocators of GPU memory gave and who held the peak; what tf.data keeps in its buffers",
     .is_drawn = true,
     .needs_tf_data = false,
     .needs_profile = true,
     .needs_history = true,
     .document = of_rows<memory_json>,
     .others = {{OutputFormat::text, of_rows<render_memory_text>}, {OutputFormat::csv, of_rows<render_memory_csv>}}},
}};

Result<std::string> page_for_browser(const Page& page, const ShowOptions& options, const Analysis& analysis) {
  ASSIGN_OR_RETURN(OrderedJson document, page.document(options, analysis));
  // Its text has no name of a folder.
  ShowOptions of_text = options;
  of_text.style = {.width = 120, .rerun = {"TRACE"}};
  Text text = page.is_drawn ? Text() : page.render(OutputFormat::text, of_text, analysis);
  if (!text) return text;
  return render_document_html({std::string(page.name), std::move(document)}, title_of_traces(analysis.measurements),
                              *text);
}

}  // namespace

std::vector<OutputFormat> Page::formats() const {
  std::vector<OutputFormat> formats = {OutputFormat::json, OutputFormat::html};
  for (const PageFormat& other : others) formats.push_back(other.format);
  return formats;
}

AnalysisOptions Page::needs(const ShowOptions& options) const {
  AnalysisOptions needed;
  needed.profile = needs_profile;
  needed.read.attribute_history = needs_history;
  if (need_details != nullptr) need_details(options, needed);
  return needed;
}

Result<std::string> Page::render(OutputFormat format, const ShowOptions& options, const Analysis& analysis) const {
  if (const PageFormat* const other = find_row(others, format)) return other->render(options, analysis);
  if (format == OutputFormat::html) return page_for_browser(*this, options, analysis);
  return document(options, analysis).map([](const OrderedJson& json) { return to_text(json); });
}

std::span<const Page> pages() {
  return kPages;
}

std::vector<std::string_view> page_names() {
  std::vector<std::string_view> names;
  names.reserve(kPages.size());
  for (const Page& page : kPages) names.push_back(page.name);
  return names;
}

const Page* find_page(std::string_view name) {
  const auto* const found =
      std::find_if(kPages.begin(), kPages.end(), [&](const Page& page) { return page.name == name; });
  return found == kPages.end() ? nullptr : found;
}

}  // namespace doctor
