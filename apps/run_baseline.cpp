#include "commands.h"
#include "compare/baseline_store.h"
#include "compare/comparison_thresholds.h"
#include "compare/sessions.h"
#include "recordings.h"
#include "report/comparison_pages.h"
#include "report/html/html_page.h"

namespace doctor {
namespace {

struct BaselineOptions {
  std::string file;
  std::optional<std::size_t> keep;           ///< runs
  std::optional<std::size_t> keep_sessions;  ///< sittings
  ReadingOptions reading;
  OutputOptions output;
};

Result<BaselineOptions> baseline_options(const Request& request, const std::string& action) {
  BaselineOptions options = {
      request.argument("FILE"), {}, request.number("keep-sessions"), reading_options(request), {}};
  if (action == "prune") options.keep = request.number("keep");
  const std::string usage = "tfdata-doctor baseline " + action + " FILE";
  if (action == "add" && options.reading.traces.empty()) return fail("no trace given", {}, usage + " TRACE...");
  ASSIGN_OR_RETURN(options.output, output_options(request));
  if (options.file.empty()) return fail("baseline needs a FILE", {}, usage);
  if (action == "prune" && !options.keep && !options.keep_sessions) {
    return fail("prune needs the number of runs, or of sessions, to keep", {}, usage + " --keep N");
  }
  return options;
}

/// By way of the process that writes for this one, if there is one.
Result<FileDescriptor> open_baseline(const std::string& path) {
  const OutputBroker* const broker = broker_of(path);
  if (broker == nullptr) return open_to_change(path);
  FileDescriptor file;
  const int error = broker->ask(BrokerAction::open, path, &file);
  if (error != 0) return Unexpected(broker_error(path, error));
  return file;
}

const BaselineAccess kAccess = {
    open_baseline, [](const std::string& path, std::string_view bytes) { return write_output(bytes, path); }};

Result<void> enter_baseline_sandbox(const BaselineOptions& options, std::vector<std::string> inputs, bool is_changed) {
  SandboxNeeds needs = {.inputs = std::move(inputs), .outputs = paths_of(options.output)};
  if (is_changed) needs.outputs.push_back(options.file);
  return enter_sandbox(options.reading.sandbox, needs);
}

ThresholdValues thresholds_of(const BaselineOptions& options) {
  return values_in_force(kComparisonThresholds, comparison_thresholds(), options.reading.setup.thresholds);
}

/// What stays: so many runs, or those of so many sessions; nothing where neither is asked for.
KeptRuns kept_runs(const BaselineOptions& options) {
  if (options.keep) return [keep = *options.keep](const std::vector<StoredRun>&) { return keep; };
  if (!options.keep_sessions) return {};
  return [&options](const std::vector<StoredRun>& runs) {
    std::vector<RunSummary> summaries;
    summaries.reserve(runs.size());
    for (const StoredRun& run : runs) summaries.push_back(run.summary);
    return count_of_last_sittings(summaries, *options.keep_sessions, thresholds_of(options));
  };
}

Result<int> add_to(const BaselineOptions& options, const std::string& label) {
  RETURN_IF_ERROR(limit_memory(options.reading.max_memory));
  const bool is_quiet = options.output.quiet;
  ASSIGN_OR_RETURN(const std::vector<NamedRecordings> named, find_recordings(options.reading.traces));
  RETURN_IF_ERROR(check_to_change(options.file));
  RETURN_IF_ERROR(enter_baseline_sandbox(options, files_of(named), true));
  ASSIGN_OR_RETURN(const std::vector<Recordings> sides,
                   read_recordings({{.named = named, .label = label}}, options.reading, is_quiet));
  const Recordings& recordings = sides.front();
  print_missing(recordings, is_quiet);
  ASSIGN_OR_RETURN(const std::size_t added,
                   add_to_baseline(options.file, recordings.runs, kAccess, kept_runs(options)));
  const std::size_t known = recordings.runs.size() - added;
  const Result<int> status = print_page(fmt::format("{} added{}\n", format_count(added, "run"),
                                                    known > 0 ? fmt::format(", {} known already", known) : ""),
                                        options.output.path());
  return status && !recordings.unreadable.empty() ? kExitFailure : status;
}

constexpr std::array<FormatRow<std::string(const std::vector<StoredRun>& runs, PageWidth page)>, 2> kRunFormats = {
    {{OutputFormat::text, render_baseline_text},
     {OutputFormat::json, [](const std::vector<StoredRun>& runs, PageWidth) { return to_baseline_json(runs); }}}};

Result<int> show_runs(const BaselineOptions& options) {
  RETURN_IF_ERROR(enter_baseline_sandbox(options, {options.file}, false));
  ASSIGN_OR_RETURN(const std::vector<StoredRun> runs, load_baseline(options.file));
  return print_page(row_of(kRunFormats, options.output.format()).render(runs, page_width(options.output)),
                    options.output.path(), options.output.format() == OutputFormat::json);
}

constexpr std::array<FormatRow<std::string(const History& history, PageWidth page)>, 4> kHistoryFormats = {
    {{OutputFormat::text, render_history_text},
     {OutputFormat::json, [](const History& history, PageWidth) { return to_text(history_json(history)); }},
     {OutputFormat::html,
      [](const History& history, PageWidth) {
        // One version alone has nothing to draw.
        const std::string text =
            history.entries.size() < 2 ? render_history_text(history, std::nullopt) : std::string();
        return render_document_html("history", history_json(history), "History", text);
      }},
     {OutputFormat::csv, [](const History& history, PageWidth) { return render_history_csv(history); }}}};

Result<int> log_runs(const BaselineOptions& options) {
  RETURN_IF_ERROR(enter_baseline_sandbox(options, {options.file}, false));
  ASSIGN_OR_RETURN(const std::vector<StoredRun> runs, load_baseline(options.file));
  const History history = history_of(runs, thresholds_of(options));
  const OutputFormat format = options.output.format();
  return print_page(row_of(kHistoryFormats, format).render(history, page_width(options.output)), options.output.path(),
                    format == OutputFormat::json);
}

Result<int> prune(const BaselineOptions& options) {
  RETURN_IF_ERROR(check_to_change(options.file));
  RETURN_IF_ERROR(enter_baseline_sandbox(options, {options.file}, true));
  ASSIGN_OR_RETURN(const std::size_t removed, prune_baseline(options.file, kept_runs(options), kAccess));
  return print_page(fmt::format("{} removed\n", format_count(removed, "run")), options.output.path());
}

}  // namespace

std::vector<OutputFormat> baseline_formats() {
  return formats_in(kRunFormats);
}

std::vector<OutputFormat> history_formats() {
  return formats_in(kHistoryFormats);
}

Result<int> run_baseline(const Request& request) {
  ASSIGN_OR_RETURN(const std::string action, word_argument(request, "ACTION"));
  ASSIGN_OR_RETURN(const BaselineOptions options, baseline_options(request, action));
  if (action == "add") return add_to(options, request.text("label"));
  if (action == "log") return log_runs(options);
  return action == "prune" ? prune(options) : show_runs(options);
}

}  // namespace doctor
