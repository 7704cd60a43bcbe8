#include <filesystem>
#include <optional>
#include <system_error>

#include "base/try.h"
#include "batch/batch.h"
#include "commands.h"
#include "fleet/trace_row.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "text/escape.h"
#include "text/numbers.h"
#include "worker_options.h"

namespace doctor {
namespace {

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

Result<int> run_watch(const Request& request) {
  ASSIGN_OR_RETURN(const BatchOptions batch, watched_folder(request));
  const WatchOptions watch = {.every = request.duration("every"), .is_once = request.is_set("once")};
  ASSIGN_OR_RETURN(const BatchTally tally, watch_batch(batch, watch));
  if (!batch.quiet) print_note(render_summary(tally, std::nullopt));
  return request.is_set("exit-zero") ? kExitClean : exit_code_of_watch(tally);
}

}  // namespace doctor
