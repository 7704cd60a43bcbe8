// `show`, whose pages are values of lib/report, and `checklist`, a page of its own.

#include "command_line/option_table.h"
#include "commands.h"
#include "io/trace_inputs.h"
#include "report/html/html_page.h"
#include "report/page.h"

namespace doctor {
namespace {

/// "'show calls', 'show ops'".
std::string list_of_pages(std::span<const std::string_view> names) {
  return joined(names, ", ", [](std::string_view name) { return fmt::format("'show {}'", name); });
}

/// The page, which must take all options that were given. Errors: no such page, an option of others.
Result<const Page*> find_page_for(const Request& request) {
  const std::string name = request.argument("PAGE");
  if (name.empty()) return fail("show needs a page and a trace", {}, suggestion({}, page_names()));
  const Page* const page = find_page(name);
  if (page == nullptr) return fail("no page '" + name + "' to show", {}, suggestion(name, page_names()));
  for (const OptionEntry* option : options_of(Command::show)) {
    if (is_for_page(*option, name) || request.values.find(option->name) == nullptr) continue;
    return fail(fmt::format("unknown option '{}' of show {}", flag_of(*option), name), {},
                "it is for " + list_of_pages(option->pages));
  }
  return page;
}

Result<std::string> page_for_browser(const Page& page, const PageInput& input) {
  ASSIGN_OR_RETURN(OrderedJson document, page.document_of(input));
  // Its text has no name of a folder.
  ShowOptions of_text = input.options;
  of_text.style = {.width = 120, .rerun = {"TRACE"}};
  Result<std::string> text =
      page.is_drawn ? std::string() : page.text_of({input.measurements, input.diagnosis, of_text});
  if (!text) return text;
  return render_document_html(page.name, std::move(document), title_of_traces(input.measurements), *text);
}

/// A format of pages, and whether a page has it.
struct PageFormat {
  OutputFormat format;
  bool (*is_of)(const Page& page);
  Result<std::string> (*render)(const Page& page, const PageInput& input);
};

constexpr bool is_of_all(const Page& /*page*/) {
  return true;
}

constexpr std::array<PageFormat, 6> kPageFormats = {
    {{OutputFormat::text, is_of_all, [](const Page& page, const PageInput& input) { return page.text_of(input); }},
     {OutputFormat::json, is_of_all,
      [](const Page& page, const PageInput& input) {
        return page.document_of(input).map([](const OrderedJson& json) { return to_text(json); });
      }},
     {OutputFormat::html, is_of_all, page_for_browser},
     {OutputFormat::csv, [](const Page& page) { return page.rows != nullptr; },
      [](const Page& page, const PageInput& input) {
        return page.rows(input).map([](const PageRows& rows) { return table_csv(rows.table); });
      }},
     {OutputFormat::svg, [](const Page& page) { return page.picture != nullptr; },
      [](const Page& page, const PageInput& input) -> Result<std::string> { return page.picture(input); }},
     {OutputFormat::markdown, [](const Page& page) { return page.markdown != nullptr; },
      [](const Page& page, const PageInput& input) -> Result<std::string> { return page.markdown(input); }}}};

/// A person looks at so many rows, in a terminal or in a browser; a program takes all.
std::optional<std::size_t> usual_rows(const Page& page, OutputFormat format) {
  constexpr std::size_t kInBrowser = 300;
  if (format == OutputFormat::text) return page.screenful;
  return format == OutputFormat::html ? std::optional(kInBrowser) : std::nullopt;
}

ShowOptions show_options(const Request& request, const Page& page, const OutputOptions& output) {
  const std::optional<std::size_t> top = request.number("top");
  return {.style = style_of(output, request.all("TRACE")),
          .call = request.number("call"),
          .step = request.number("step"),
          .pipeline = request.given("pipeline"),
          .top = top ? top : usual_rows(page, output.format()),
          .sort = request.given("sort"),
          .by_type = request.text("by") == "type",
          .with_idle = request.is_set("with-idle"),
          .by_step = request.is_set("by-step")};
}

Result<int> print_of_traces(const Request& request, const Page& page) {
  ASSIGN_OR_RETURN(const ReadingOptions reading, reading_options_with_traces(request));
  ASSIGN_OR_RETURN(const OutputOptions output, output_options(request));
  const ShowOptions options = show_options(request, page, output);
  const auto render = [&](const Analysis& analysis, OutputFormat format) {
    return render_page(page, format, {analysis.measurements, analysis.diagnosis, options});
  };
  // Numbers are shown, nothing is judged: findings do not count here.
  const auto judge = [&](const Analysis& analysis) {
    const bool has_subject =
        page.needs_tf_data ? analysis.measurements.shows_tf_data() : event_count(analysis.measurements) > 0;
    return has_subject ? kExitClean : kExitNothing;
  };
  return run_page(reading, output, {page.needs(options), {}, render, judge});
}

std::string runs_text(const std::vector<Run>& runs) {
  std::size_t width = 0;
  for (const Run& run : runs) width = std::max(width, column_count(escape_for_terminal(run.name)));
  std::string text;
  for (const Run& run : runs) {
    text += fmt::format("{:<{}}  {:>8}  {}\n", escape_for_terminal(run.name), width,
                        format_count(run.files.size(), "file"), escape_for_terminal(run.directory));
  }
  return text;
}

std::string runs_json(const std::vector<Run>& runs) {
  OrderedJson list = OrderedJson::array();
  for (const Run& run : runs) {
    list.push_back({{"name", run.name}, {"directory", run.directory}, {"files", run.files}});
  }
  OrderedJson page = {{"schema", "tfdata-doctor.runs/1"}, {"tool", tool_json()}};
  page["runs"] = std::move(list);
  return to_text(page);
}

constexpr std::array<FormatRow<std::string(const std::vector<Run>& runs)>, 2> kRunListFormats = {
    {{OutputFormat::text, runs_text}, {OutputFormat::json, runs_json}}};

Result<std::vector<Run>> runs_of(const std::vector<std::string>& directories) {
  std::vector<Run> runs;
  for (const std::string& directory : directories) {
    Result<std::vector<Run>> found = list_runs(directory);
    if (!found) return found;
    if (found->empty()) return fail("holds no runs (plugins/profile/<run>/ with trace files)", directory);
    runs.insert(runs.end(), found->begin(), found->end());
  }
  return runs;
}

}  // namespace

std::vector<OutputFormat> page_formats(const Page& page) {
  std::vector<OutputFormat> formats;
  for (const PageFormat& format : kPageFormats) {
    if (format.is_of(page)) formats.push_back(format.format);
  }
  return formats;
}

Result<std::string> render_page(const Page& page, OutputFormat format, const PageInput& input) {
  return row_of(kPageFormats, format).render(page, input);
}

std::vector<OutputFormat> checklist_formats() {
  return {OutputFormat::text, OutputFormat::json, OutputFormat::markdown};
}

Result<int> run_show(const Request& request) {
  ASSIGN_OR_RETURN(const Page* const page, find_page_for(request));
  return print_of_traces(request, *page);
}

Result<int> run_checklist(const Request& request) {
  return print_of_traces(request, kChecklistPage);
}

std::vector<OutputFormat> run_list_formats() {
  return formats_in(kRunListFormats);
}

Result<int> run_list_runs(const Request& request) {
  if (request.all("TRACE").empty()) return fail("no directory given", {}, "see 'tfdata-doctor --help'");
  ASSIGN_OR_RETURN(const OutputOptions output, output_options(request));
  ASSIGN_OR_RETURN(const std::vector<Run> runs, runs_of(request.all("TRACE")));
  return print_page(row_of(kRunListFormats, output.format()).render(runs), output.path(),
                    output.format() == OutputFormat::json);
}

}  // namespace doctor
