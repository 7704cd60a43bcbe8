#include <system_error>

#include "batch/batch.h"
#include "commands.h"
#include "fleet/trace_row.h"
#include "process/interruption.h"

namespace doctor {
namespace {

/// The options of `batch` and `watch` for the workers that diagnose traces, and for the output of rows.
BatchOptions worker_options(const Request& request) {
  ReadingOptions reading = reading_options(request);
  reading.setup.work.threads = 1;  // the workers take all cores
  reading.setup.scope = DiagnosisScope::row;
  BatchOptions batch = {.traces = std::move(reading.traces),
                        .files_from = {},
                        .tar = {},
                        .shard = {},
                        .name = {},
                        .output = request.text("output"),
                        .jobs = request.number("jobs").value_or(usable_cores()),
                        .time_limit = {},
                        .max_memory = std::move(reading.max_memory),
                        .fail_on = fail_on_of(request),
                        .budgets = request.budgets,
                        .setup = std::move(reading.setup),
                        .sandbox = reading.sandbox,
                        .quiet = request.is_set("quiet")};
  if (const std::size_t seconds = *request.number("timeout"); seconds > 0) {
    batch.time_limit = std::chrono::seconds(seconds);
  }
  return batch;
}

/// Errors: no trace, or options that do not go together.
Result<void> check_batch(const BatchOptions& batch) {
  const bool reads_stdin = std::ranges::find(batch.traces, "-") != batch.traces.end();
  if (batch.traces.empty() && !batch.files_from && !batch.tar) {
    return fail("no trace given", {}, "name files or directories, or a list of them with --files-from");
  }
  if (reads_stdin && batch.files_from == "-") {
    return fail("standard input cannot be a trace and a list of traces", "--files-from", "name a file in place of one");
  }
  if (batch.tar == "-" && (reads_stdin || batch.files_from == "-")) {
    return fail("standard input cannot be an archive and something else", "--tar", "name a file in place of one");
  }
  if (batch.path_end == '\0' && !batch.files_from) {
    return fail("is about the paths of --files-from", "--null", "name their file");
  }
  if (batch.name && !reads_stdin) return fail("is for the trace on standard input", "--name", "name it as -");
  if (batch.resumes && is_standard_output(batch.output)) {
    return fail("needs a file to go on with", "--resume", "name it with -o");
  }
  return {};
}

Result<BatchOptions> batch_options(const Request& request) {
  BatchOptions batch = worker_options(request);
  batch.files_from = request.given("files-from");
  batch.path_end = request.is_set("null") ? '\0' : '\n';
  batch.tar = request.given("tar");
  batch.name = request.given("name");
  batch.resumes = request.is_set("resume");
  if (const std::optional<std::string> text = request.given("shard")) {
    const std::optional<Shard> shard = parse_shard(*text);
    if (!shard) {
      return fail("'" + *text + "' is not a shard like 2/8", "--shard", "the first of 8 parts is 1/8, the last 8/8");
    }
    batch.shard = *shard;
  }
  RETURN_IF_ERROR(check_batch(batch));
  return batch;
}

void end_interrupted(const BatchTally& tally, const BatchOptions& batch) {
  print_error({fmt::format("interrupted; {} written", format_count(tally.traces, "row")),
               {},
               {},
               !is_standard_output(batch.output) ? "the same command with --resume goes on" : ""});
  end_by_signal(tally.interrupted_by);
}

/// "logs/a/host.xplane.pb: input_bound, 40% of the time; Dataset.map (cores)", for a person who watches.
std::string line_of(std::string_view text) {
  const Result<TraceRow> row = parse_row(text);
  if (!row) return {};
  std::string line = row->file.path + ": " + (row->error.empty() ? row->verdict : row->error);
  if (row->input_share) line += ", waits " + format_share(*row->input_share);
  if (!row->culprit.empty()) line += "; " + row->culprit;
  if (!row->limiting_resource.empty()) line += " (" + row->limiting_resource + ")";
  return escape_for_terminal(line) + "\n";
}

Result<BatchOptions> watched_folder(const Request& request) {
  BatchOptions batch = worker_options(request);
  const std::string directory = request.argument("DIR");
  if (directory.empty()) return fail("no directory given", {}, "name the one that traces are stored in");
  std::error_code error;
  if (!std::filesystem::is_directory(directory, error)) {
    return fail("is not a directory", directory, "name the one that traces are stored in");
  }
  batch.traces = {directory};
  const bool has_file = !is_standard_output(batch.output);
  batch.resumes = has_file;
  // Rows that go to a file tell a person nothing.
  batch.tell_row = [tells = has_file && !batch.quiet](std::string_view row) {
    if (tells) print_note(line_of(row));
  };
  return batch;
}

int exit_code_of_watch(const BatchTally& tally) {
  const bool is_nothing_new = tally.traces == 0 && tally.unreadable_folders == 0;
  return is_nothing_new ? kExitClean : exit_code_of(tally);
}

}  // namespace

Result<int> run_batch(const Request& request) {
  ASSIGN_OR_RETURN(const BatchOptions batch, batch_options(request));
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const BatchTally tally, diagnose_batch(batch));
  if (tally.interrupted_by != 0) end_interrupted(tally, batch);
  if (!batch.quiet) print_note(render_summary(tally, std::chrono::steady_clock::now() - begin));
  return request.is_set("exit-zero") && !tally.is_archive_broken ? kExitClean : exit_code_of(tally);
}

Result<int> run_watch(const Request& request) {
  ASSIGN_OR_RETURN(const BatchOptions batch, watched_folder(request));
  const WatchOptions watch = {.every = request.duration("every"), .is_once = request.is_set("once")};
  ASSIGN_OR_RETURN(const BatchTally tally, watch_batch(batch, watch));
  if (!batch.quiet) print_note(render_summary(tally, std::nullopt));
  return request.is_set("exit-zero") ? kExitClean : exit_code_of_watch(tally);
}

}  // namespace doctor
