#include <fmt/format.h>

#include <utility>

#include "commands.h"
#include "compare/baseline_store.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "recordings.h"
#include "report/baseline_page.h"
#include "text/numbers.h"

namespace doctor {
namespace {

struct BaselineOptions {
  std::string file;
  ReadingOptions reading;
  OutputOptions output;
};

Result<BaselineOptions> baseline_options(const Request& request, const std::string& action) {
  BaselineOptions options = {request.argument("FILE"), reading_options(request), {}};
  const std::string usage = "tfdata-doctor baseline " + action + " FILE";
  if (action == "add" && options.reading.traces.empty()) return fail("no trace given", {}, usage + " TRACE...");
  Result<OutputOptions> output = output_options(request, {OutputFormat::text, OutputFormat::json});
  if (!output) return Unexpected(output.error());
  options.output = *std::move(output);
  if (options.file.empty()) return fail("baseline needs a FILE", {}, usage);
  if (action == "prune" && !request.number("keep")) {
    return fail("prune needs the number of runs to keep", {}, usage + " --keep N");
  }
  return options;
}

void enter_baseline_sandbox(const BaselineOptions& options, std::vector<std::string> inputs,
                            std::vector<std::string> databases) {
  enter_sandbox(options.reading.sandbox,
                {.inputs = std::move(inputs), .outputs = paths_of(options.output), .databases = std::move(databases)});
}

int add_to(const BaselineOptions& options, const std::string& label) {
  if (const Result<void> limited = limit_memory(options.reading.max_memory); !limited) {
    return fail_with(limited.error());
  }
  const bool is_quiet = options.output.quiet;
  const Result<std::vector<NamedRecordings>> named = find_recordings(options.reading.traces);
  if (!named) return fail_with(named.error());
  enter_baseline_sandbox(options, files_of(*named), {options.file});
  const Result<Recordings> recordings = read_recordings(*named, options.reading.setup, label, is_quiet);
  if (!recordings) return fail_with(recordings.error());
  print_missing(*recordings, is_quiet);
  const Result<std::size_t> added = add_to_baseline(options.file, recordings->runs);
  if (!added) return fail_with(added.error());
  const std::size_t known = recordings->runs.size() - *added;
  const int code = print_page(fmt::format("{} added{}\n", format_count(*added, "run"),
                                          known > 0 ? fmt::format(", {} known already", known) : ""),
                              options.output.path());
  return recordings->unreadable.empty() ? code : kExitFailure;
}

int show_runs(const BaselineOptions& options) {
  enter_baseline_sandbox(options, {options.file}, {});
  const Result<std::vector<StoredRun>> runs = load_baseline(options.file);
  if (!runs) return fail_with(runs.error());
  const bool is_json = options.output.format() == OutputFormat::json;
  return print_page(is_json ? to_baseline_json(*runs) : render_baseline_text(*runs, page_width(options.output)),
                    options.output.path(), is_json);
}

int prune(const BaselineOptions& options, std::size_t keep) {
  enter_baseline_sandbox(options, {}, {options.file});
  const Result<std::size_t> removed = prune_baseline(options.file, keep);
  if (!removed) return fail_with(removed.error());
  return print_page(fmt::format("{} removed\n", format_count(*removed, "run")), options.output.path());
}

}  // namespace

int run_baseline(const Request& request) {
  const Result<std::string> action = word_argument(request, "ACTION");
  if (!action) return fail_with(action.error());
  const Result<BaselineOptions> options = baseline_options(request, *action);
  if (!options) return fail_with(options.error());
  if (*action == "add") return add_to(*options, request.text("label"));
  return *action == "prune" ? prune(*options, *request.number("keep")) : show_runs(*options);
}

}  // namespace doctor
