#include "pages.h"

#include <algorithm>
#include <array>

#include "report/autotune_page.h"
#include "report/calls_page.h"
#include "report/hosts_page.h"
#include "report/input_page.h"
#include "report/kernels_page.h"
#include "report/memory_page.h"
#include "report/ops_page.h"
#include "report/overview_page.h"
#include "report/steps_page.h"
#include "report/timeline_page.h"
#include "report/tree_page.h"
#include "text/data_table.h"

namespace doctor {
namespace {

AnalysisOptions diagnosis_alone(const ShowOptions&) {
  return {};
}

Result<std::string> render_tree(const ShowOptions& options, const Analysis& analysis) {
  return options.format == OutputFormat::json
             ? render_tree_json(analysis.measurements, analysis.diagnosis)
             : render_tree_text(analysis.measurements, analysis.diagnosis, options.style.width);
}

/// A person reads a few charts; a program can take more.
CallChoice call_choice(const ShowOptions& options) {
  CallChoice choice = {options.call, options.pipeline, options.format == OutputFormat::text ? 10 : 100};
  if (options.top) choice.top = *options.top > 0 ? options.top : std::nullopt;
  return choice;
}

AnalysisOptions call_details(const ShowOptions& options) {
  AnalysisOptions needed;
  needed.measure.calls = call_choice(options).request();
  return needed;
}

Result<std::string> render_calls(const ShowOptions& options, const Analysis& analysis) {
  const Result<CallList> list = choose_calls(analysis.measurements, analysis.diagnosis, call_choice(options));
  if (!list) return Unexpected(list.error());
  if (options.format == OutputFormat::json) return render_calls_json(*list);
  return options.format == OutputFormat::csv ? render_calls_csv(*list) : render_calls_text(*list, options.style.width);
}

TimelineChoice timeline_choice(const ShowOptions& options) {
  TimelineChoice choice = {options.call, std::nullopt, options.pipeline};
  if (options.step) choice.step = static_cast<std::int64_t>(*options.step);
  return choice;
}

AnalysisOptions timelines(const ShowOptions& options) {
  AnalysisOptions needed;
  needed.measure.timeline = timeline_choice(options).request();
  return needed;
}

Result<std::string> render_timeline(const ShowOptions& options, const Analysis& analysis) {
  if (options.call && options.step) return fail("a call and a step cannot be shown at once", "--step", "name one");
  const Result<TimelineList> list =
      choose_timelines(analysis.measurements, analysis.diagnosis, timeline_choice(options));
  if (!list) return Unexpected(list.error());
  if (options.format == OutputFormat::json) return to_text(timeline_json(*list));
  return options.format == OutputFormat::csv ? render_timeline_csv(*list)
                                             : render_timeline_text(*list, options.style.width);
}

AnalysisOptions attribute_history(const ShowOptions&) {
  AnalysisOptions needed;
  needed.read.attribute_history = true;
  return needed;
}

Result<std::string> render_autotune(const ShowOptions& options, const Analysis& analysis) {
  if (options.format == OutputFormat::json) return render_autotune_json(analysis.measurements, analysis.diagnosis);
  return options.format == OutputFormat::csv
             ? render_autotune_csv(analysis.measurements, analysis.diagnosis)
             : render_autotune_text(analysis.measurements, analysis.diagnosis, options.style.width);
}

AnalysisOptions profile(const ShowOptions&) {
  AnalysisOptions needed;
  needed.profile = true;
  return needed;
}

AnalysisOptions profile_and_history(const ShowOptions& options) {
  AnalysisOptions needed = profile(options);
  needed.read.attribute_history = true;
  return needed;
}

/// What a table says of itself beside its rows.
struct TableWords {
  std::string_view schema;
  std::string note;  ///< a line above the rows in text; empty: none
};

/// A person reads the first rows of a table; a program can take all.
RowChoice row_choice(const ShowOptions& options) {
  constexpr std::size_t kScreenful = 20;
  RowChoice choice = {options.sort, options.format == OutputFormat::text ? std::optional(kScreenful) : std::nullopt};
  if (options.top) choice.top = *options.top > 0 ? options.top : std::nullopt;
  return choice;
}

/// `table` may be without rows that are not shown anyway; with them it has `row_count`.
Result<std::string> render_table(const ShowOptions& options, DataTable table, const TableWords& words,
                                 std::size_t row_count) {
  if (const Result<void> chosen = choose_rows(table, row_choice(options)); !chosen) return Unexpected(chosen.error());
  if (options.format == OutputFormat::json) return render_table_json(table, words.schema, row_count);
  if (options.format == OutputFormat::csv) return table_csv(table);
  return render_table_text(table, words.note, row_count, options.style.width);
}

Result<std::string> render_table(const ShowOptions& options, DataTable table, const TableWords& words) {
  const std::size_t row_count = table.rows.size();
  return render_table(options, std::move(table), words, row_count);
}

Result<std::string> render_ops(const ShowOptions& options, const Analysis& analysis) {
  OpsChoice choice;
  choice.by = options.by_type ? OpGrouping::type : OpGrouping::name;
  choice.with_idle = options.with_idle;
  return render_table(options, ops_table(analysis.measurements, choice), {"tfdata-doctor.ops/1", {}});
}

Result<std::string> render_kernels(const ShowOptions& options, const Analysis& analysis) {
  return render_table(options, kernels_table(analysis.measurements),
                      {"tfdata-doctor.kernels/1", kernels_note(analysis.measurements)});
}

Result<std::string> render_steps(const ShowOptions& options, const Analysis& analysis) {
  const RowChoice choice = row_choice(options);
  const std::size_t most_rows = choice.sort ? SIZE_MAX : choice.top.value_or(SIZE_MAX);
  return render_table(options, steps_table(analysis.measurements, most_rows),
                      {"tfdata-doctor.steps/1", step_note(analysis.measurements)}, step_count(analysis.measurements));
}

Result<std::string> render_hosts(const ShowOptions& options, const Analysis& analysis) {
  const std::vector<StepOnCores> steps = steps_in_common(analysis.measurements, analysis.diagnosis);
  DataTable waits = core_waits_table(steps);
  const TableWords of_waits = {"tfdata-doctor.hosts/1", core_waits_note(steps)};
  if (options.by_step) return render_table(options, std::move(waits), of_waits);
  DataTable hosts = hosts_table(analysis.measurements, analysis.diagnosis);
  // What they are sorted by is a column of the hosts.
  ShowOptions unsorted = options;
  unsorted.sort.reset();
  if (options.format == OutputFormat::json) {
    if (const Result<void> chosen = choose_rows(hosts, row_choice(options)); !chosen) return Unexpected(chosen.error());
    if (const Result<void> cut = choose_rows(waits, row_choice(unsorted)); !cut) return Unexpected(cut.error());
    return render_hosts_json(hosts, waits, analysis.diagnosis);
  }
  Result<std::string> page =
      render_table(options, std::move(hosts), {{}, describe_comparison(analysis.diagnosis.hosts)});
  const bool has_ranges =
      std::any_of(steps.begin(), steps.end(), [](const StepOnCores& step) { return step.core_count > 1; });
  if (!page || options.format == OutputFormat::csv || !has_ranges) return page;
  return *page + "\n" + render_table(unsorted, std::move(waits), of_waits).value_or("");
}

Result<std::string> render_input(const ShowOptions& options, const Analysis& analysis) {
  DataTable table = input_table(analysis.measurements);
  if (options.format != OutputFormat::json) {
    const std::string summary =
        options.format == OutputFormat::csv
            ? std::string()
            : input_summary_text(analysis.measurements, analysis.diagnosis, options.style.width);
    Result<std::string> page = render_table(options, std::move(table), {});
    return page ? Result<std::string>(summary + (summary.empty() ? "" : "\n") + *page) : page;
  }
  const Result<void> chosen = choose_rows(table, row_choice(options));
  if (!chosen) return Unexpected(chosen.error());
  return render_input_json(analysis.measurements, analysis.diagnosis, table);
}

Result<std::string> render_overview(const ShowOptions& options, const Analysis& analysis) {
  return options.format == OutputFormat::json
             ? render_overview_json(analysis.measurements, analysis.diagnosis)
             : render_overview_text(analysis.measurements, analysis.diagnosis, options.style);
}

Result<std::string> render_memory(const ShowOptions& options, const Analysis& analysis) {
  const std::optional<std::size_t> top = row_choice(options).top;
  if (options.format == OutputFormat::json) return render_memory_json(analysis.measurements, analysis.diagnosis, top);
  return options.format == OutputFormat::csv
             ? render_memory_csv(analysis.measurements, analysis.diagnosis, top)
             : render_memory_text(analysis.measurements, analysis.diagnosis, top, options.style.width);
}

constexpr std::array kPageFormats = {OutputFormat::text, OutputFormat::json, OutputFormat::html};
constexpr std::array kTableFormats = {OutputFormat::text, OutputFormat::json, OutputFormat::html, OutputFormat::csv};

constexpr std::array<Page, 11> kPages = {{
    {.name = "overview",
     .summary = "step time and what it goes to, the ops that run the longest, what to do next",
     .formats = kPageFormats,
     .needs_tf_data = false,
     .needs = profile,
     .render = render_overview},
    {.name = "input",
     .summary = "the input pipeline: its share of the steps, each iterator's time and category",
     .formats = kTableFormats,
     .needs = profile,
     .render = render_input},
    {.name = "tree",
     .summary = "the iterators with their calls and times",
     .formats = kPageFormats,
     .needs = diagnosis_alone,
     .render = render_tree},
    {.name = "calls",
     .summary = "slow GetNext calls: who held them when, on which thread",
     .formats = kTableFormats,
     .needs = call_details,
     .render = render_calls},
    {.name = "timeline",
     .summary = "typical steps, or one call or step: when the loop waits for which stage, and when each works",
     .formats = kTableFormats,
     .is_drawn = true,
     .needs = timelines,
     .render = render_timeline},
    {.name = "autotune",
     .summary = "what each stage was given and chose, and whether it binds",
     .formats = kTableFormats,
     .needs = attribute_history,
     .render = render_autotune},
    {.name = "hosts",
     .summary = "the hosts of a run side by side, and the waits of its cores in each step",
     .formats = kTableFormats,
     .needs_tf_data = false,
     .needs = profile,
     .render = render_hosts},
    {.name = "steps",
     .summary = "each step and what its time went to",
     .formats = kTableFormats,
     .is_drawn = true,
     .needs_tf_data = false,
     .needs = profile,
     .render = render_steps},
    {.name = "ops",
     .summary = "every op on host and device: occurrences, total and self time",
     .formats = kTableFormats,
     .is_drawn = true,
     .needs_tf_data = false,
     .needs = profile,
     .render = render_ops},
    {.name = "kernels",
     .summary = "every kernel on the GPUs: how it was launched, for which op, and its time",
     .formats = kTableFormats,
     .is_drawn = true,
     .needs = diagnosis_alone,
     .render = render_kernels},
    {.name = "memory",
     .summary = "what allocators of GPU memory gave and who held the peak; what tf.data keeps in its buffers",
     .formats = kTableFormats,
     .is_drawn = true,
     .needs_tf_data = false,
     .needs = profile_and_history,
     .render = render_memory},
}};

}  // namespace

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
