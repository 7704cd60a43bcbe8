#include "capture_loop.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "diagnose/judgement_words.h"
#include "process/exit_code.h"
#include "process/interruption.h"
#include "process/output.h"
#include "process/progress_bar.h"
#include "report/selection.h"
#include "text/escape.h"
#include "text/numbers.h"

namespace doctor {
namespace {

void show_activity(const CaptureOptions& capture, bool is_quiet) {
  if (!wants_progress_bar(is_quiet, STDERR_FILENO)) return;
  const std::string first = to_string(capture.hosts.front());
  const std::string hosts =
      capture.hosts.size() == 1 ? first : fmt::format("{} and {} more", first, capture.hosts.size() - 1);
  status_line().show(
      fmt::format("tracing {} for {}", hosts, format_time(capture.duration.count() * kPicosecondsPerMillisecond)));
}

/// The log directory is made first: it can be named in the rules of the sandbox only then.
const std::string& made(const std::string& log_directory) {
  std::error_code ignored;  // the first capture will tell
  std::filesystem::create_directories(log_directory, ignored);
  return log_directory;
}

}  // namespace

CaptureLoop::CaptureLoop(const CaptureLoopOptions& options)
    : options_(options), process_(options.capture, made(options.log_directory), options.diagnosis.reading.sandbox) {}

std::optional<int> CaptureLoop::run() {
  using Clock = std::chrono::steady_clock;
  if (const Result<void> entered =
          enter_sandbox(options_.diagnosis.reading.sandbox,
                        {.inputs = {options_.log_directory}, .outputs = paths_of(options_.diagnosis.output)});
      !entered) {
    return fail_with(entered.error());
  }
  std::optional<int> status;
  Clock::time_point next = Clock::now();
  for (std::size_t captures = 1;; ++captures) {
    const std::optional<int> captured = capture();
    if (!captured) return status;
    status = captured;
    const bool is_last = !options_.every || captures == options_.count;
    if (is_last) return status;
    next = std::max(next + *options_.every, Clock::now());
    if (!wait_unless_interrupted(std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()))) return status;
  }
}

/// The exit status; nullopt if a signal ended it.
std::optional<int> CaptureLoop::capture() {
  show_activity(options_.capture, options_.diagnosis.output.quiet);
  const Result<CapturedRun> captured = process_.capture();
  status_line().erase();
  if (interrupting_signal() != 0) return std::nullopt;
  if (!captured) return fail_with(captured.error());
  std::vector<Error> absent;
  for (const HostCapture& host : captured->hosts) {
    if (!host.file) absent.push_back(host.file.error());
  }
  return absent.size() == captured->hosts.size()
             ? report_failure(absent)
             : report(run_folder(options_.log_directory, captured->run), std::move(absent));
}

/// Diagnoses the traces in the folder.
int CaptureLoop::report(const std::string& folder, std::vector<Error> absent) {
  DiagnosisOptions diagnosis = options_.diagnosis;
  diagnosis.reading.traces = {folder};
  diagnosis.reading.setup.absent = std::move(absent);
  const TracePage page = diagnosis_page(diagnosis);
  const Result<Analysis> analysis = analyze_traces(diagnosis.reading, diagnosis.output, page);
  if (!analysis) return fail_with(analysis.error());
  const std::optional<VerdictKey> before = std::exchange(last_verdict_, key_of(*analysis));
  if (!options_.keeps_only_changes || before != last_verdict_)
    return write_page(*analysis, diagnosis.reading, diagnosis.output, page);
  process_.remove_last_run();
  if (!diagnosis.output.quiet) {
    print_note(fmt::format("tfdata-doctor: as before: {}\n",
                           escape_for_terminal(summarize(analysis->measurements, analysis->diagnosis.judgement))));
  }
  return write_page(*analysis, diagnosis.reading, metrics_alone(), page);
}

/// No host has a trace. Who scrapes metrics should learn of it, too.
int CaptureLoop::report_failure(const std::vector<Error>& absent) const {
  for (const Error& error : absent) print_error(error);
  DiagnosisSetup setup = options_.diagnosis.reading.setup;
  setup.absent = absent;
  const Analysis analysis = diagnose_files({}, setup);
  static_cast<void>(
      write_page(analysis, options_.diagnosis.reading, metrics_alone(), diagnosis_page(options_.diagnosis)));
  return kExitFailure;
}

OutputOptions CaptureLoop::metrics_alone() const {
  OutputOptions output = options_.diagnosis.output;
  std::erase_if(output.targets, [](const OutputTarget& target) { return target.format != OutputFormat::prometheus; });
  return output;
}

CaptureLoop::VerdictKey CaptureLoop::key_of(const Analysis& analysis) {
  const std::vector<PipelineView> views = pipelines_of(analysis.measurements, analysis.diagnosis.judgement);
  const bool has_culprit = !views.empty() && names_culprit(views.front().judgement);
  return {to_word(analysis.diagnosis.judgement.status),
          has_culprit ? views.front().culprit().long_name : std::string()};
}

}  // namespace doctor
