#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "base/try.h"
#include "batch/batch.h"
#include "commands.h"
#include "process/exit_code.h"
#include "process/interruption.h"
#include "process/output.h"
#include "text/numbers.h"
#include "worker_options.h"

namespace doctor {
namespace {

/// Errors: no trace, or options that do not go together.
Result<void> check_batch(const BatchOptions& batch) {
  const bool reads_stdin = std::find(batch.traces.begin(), batch.traces.end(), "-") != batch.traces.end();
  if (batch.traces.empty() && !batch.files_from) {
    return fail("no trace given", {}, "name files or directories, or a list of them with --files-from");
  }
  if (reads_stdin && batch.files_from == "-") {
    return fail("standard input cannot be a trace and a list of traces", "--files-from", "name a file in place of one");
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

}  // namespace

Result<int> run_batch(const Request& request) {
  ASSIGN_OR_RETURN(const BatchOptions batch, batch_options(request));
  const auto begin = std::chrono::steady_clock::now();
  ASSIGN_OR_RETURN(const BatchTally tally, diagnose_batch(batch));
  if (tally.interrupted_by != 0) end_interrupted(tally, batch);
  if (!batch.quiet) print_note(render_summary(tally, std::chrono::steady_clock::now() - begin));
  return request.is_set("exit-zero") ? kExitClean : exit_code_of(tally);
}

}  // namespace doctor
