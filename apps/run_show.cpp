#include <fmt/format.h>

#include "analysis.h"
#include "base/nearest.h"
#include "base/try.h"
#include "command_line/option_table.h"
#include "commands.h"
#include "pages.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "report/selection.h"

namespace doctor {
namespace {

/// "'show calls', 'show ops'".
std::string list_of_pages(std::span<const std::string_view> names) {
  std::string list;
  for (const std::string_view name : names) list += fmt::format("{}'show {}'", list.empty() ? "" : ", ", name);
  return list;
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

}  // namespace

Result<int> run_show(const Request& request) {
  ASSIGN_OR_RETURN(const Page* const page, find_page_for(request));
  ASSIGN_OR_RETURN(const ReadingOptions reading, reading_options_with_traces(request));
  ASSIGN_OR_RETURN(const OutputOptions output, output_options(request));
  const ShowOptions options = show_options(request, *page, output);
  const auto render = [&](const Analysis& analysis, OutputFormat format) {
    return page->render(format, options, analysis);
  };
  // Numbers are shown, nothing is judged: findings do not count here.
  const auto judge = [&](const Analysis& analysis) {
    const bool has_subject =
        page->needs_tf_data ? analysis.measurements.shows_tf_data() : event_count(analysis.measurements) > 0;
    return has_subject ? kExitClean : kExitNothing;
  };
  return run_page(reading, output, {page->needs(options), {}, render, judge});
}

}  // namespace doctor
