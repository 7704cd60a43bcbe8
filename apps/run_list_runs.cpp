#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/try.h"
#include "commands.h"
#include "documents.h"
#include "io/trace_inputs.h"
#include "process/output.h"
#include "text/columns.h"
#include "text/escape.h"
#include "text/json_page.h"
#include "text/numbers.h"

namespace doctor {
namespace {

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
