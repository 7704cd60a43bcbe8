#include "capture_loop.h"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
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

namespace fs = std::filesystem;

constexpr int kMostRunsASecond = 1'000;

/// Makes the folder of a run of its own and gives its name: the local time, as TensorFlow has it. Errors: it cannot be
/// made.
Result<std::string> make_run(const std::string& log_directory) {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm local{};
  ::localtime_r(&now, &local);
  const std::string time = fmt::format("{:%Y_%m_%d_%H_%M_%S}", local);
  std::error_code error;
  fs::create_directories(fs::path(run_folder(log_directory, time)).parent_path(), error);
  for (int number = 1; !error && number <= kMostRunsASecond; ++number) {
    const std::string run = number == 1 ? time : fmt::format("{}_{}", time, number);
    if (fs::create_directory(run_folder(log_directory, run), error)) return run;
  }
  return fail("no folder for traces can be made: " + error.message(), run_folder(log_directory, time),
              "name a log directory with -o");
}

/// Removes the folder of a run that has no trace, and the folders above that are empty then, the log directory not.
void remove_empty_folders(const fs::path& run) {
  fs::path folder = run;
  for (int level = 0; level < 3 && ::rmdir(folder.c_str()) == 0; ++level) folder = folder.parent_path();
}

void show_activity(const CaptureOptions& capture, bool is_quiet) {
  if (!wants_progress_bar(is_quiet, STDERR_FILENO)) return;
  const std::string first = to_string(capture.hosts.front());
  const std::string hosts =
      capture.hosts.size() == 1 ? first : fmt::format("{} and {} more", first, capture.hosts.size() - 1);
  status_line().show(
      fmt::format("tracing {} for {}", hosts, format_time(capture.duration.count() * kPicosecondsPerMillisecond)));
}

}  // namespace

CaptureLoop::CaptureLoop(const CaptureLoopOptions& options) : options_(options) {}

std::optional<int> CaptureLoop::run() {
  using Clock = std::chrono::steady_clock;
  enter_sandbox_for_captures();
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

/// What hosts send is read in this process, too, so it needs the network. The log directory is made first: below it
/// files can be made from then on.
void CaptureLoop::enter_sandbox_for_captures() const {
  std::error_code ignored;  // the first capture will tell
  fs::create_directories(options_.log_directory, ignored);
  enter_sandbox(options_.diagnosis.reading.sandbox,
                {.outputs = paths_of(options_.diagnosis.output), .log_directory = options_.log_directory});
}

/// The exit status; nullopt if a signal ended it.
std::optional<int> CaptureLoop::capture() {
  const Result<std::string> run = make_run(options_.log_directory);
  if (!run) return fail_with(run.error());
  const std::string folder = run_folder(options_.log_directory, *run);
  show_activity(options_.capture, options_.diagnosis.output.quiet);
  const Result<std::vector<HostCapture>> captures =
      capture_hosts(options_.capture, fs::absolute(options_.log_directory).lexically_normal().string(), *run);
  status_line().erase();
  remove_empty_folders(folder);
  if (!captures) return fail_with(captures.error());
  if (interrupting_signal() != 0) {
    fs::remove_all(folder);
    return std::nullopt;
  }
  std::vector<Error> absent;
  for (const HostCapture& host : *captures) {
    if (!host.file) absent.push_back(host.file.error());
  }
  return absent.size() == captures->size() ? report_failure(absent) : report(folder, std::move(absent));
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
  std::error_code ignored;  // a trace too many need not end the watch
  fs::remove_all(folder, ignored);
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
