#include <fmt/format.h>

#include <algorithm>

#include "commands.h"
#include "io/trace_inputs.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "report/json_values.h"
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

int run_list_runs(const Options& options) {
  const Result<std::vector<Run>> runs = runs_of(options.traces);
  const bool is_json = options.format == OutputFormat::json;
  const Result<void> written =
      runs ? write_output(is_json ? runs_json(*runs) : runs_text(*runs), options.output) : Unexpected(runs.error());
  if (written) return kExitClean;
  print_error(written.error());
  return kExitFailure;
}

}  // namespace doctor
