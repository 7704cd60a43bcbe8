#include <filesystem>
#include <system_error>

#include "capture/capture.h"
#include "capture_process.h"
#include "command_line/option_values.h"
#include "commands.h"
#include "process/interruption.h"
#include "process/progress.h"
#include "words/verdict_words.h"

namespace doctor {
namespace {

struct CaptureLoopOptions {
  CaptureOptions capture;
  DiagnosisOptions diagnosis;
  std::string log_directory;                       ///< as the user named it
  std::optional<std::chrono::milliseconds> every;  ///< from one beginning to the next; nullopt: one capture
  std::optional<std::size_t> count;                ///< of captures; nullopt: until a signal comes
  bool keeps_only_changes = false;
};

/// Captures, diagnoses what it got, writes the report; once, or again and again.
class CaptureLoop {
 public:
  explicit CaptureLoop(const CaptureLoopOptions& options);

  /// Ends early if a signal comes: interrupting_signal() tells. The exit status of the last capture; nullopt if none
  /// came to its end.
  std::optional<int> run();

 private:
  /// What a verdict is compared by.
  struct VerdictKey {
    std::string_view status;
    std::string culprit;  ///< long name; empty if there is none

    friend bool operator==(const VerdictKey&, const VerdictKey&) = default;
  };
  static VerdictKey key_of(const Analysis& analysis);

  std::optional<int> capture();
  int report(const std::string& folder, std::vector<Error> absent);
  int report_failure(const std::vector<Error>& absent) const;
  OutputOptions metrics_alone() const;

  const CaptureLoopOptions& options_;
  CaptureProcess process_;
  std::optional<VerdictKey> last_verdict_;
};

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
                           escape_for_terminal(summarize(analysis->measurements, analysis->diagnosis))));
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

Result<CaptureOptions> capture_options_of(const Request& request) {
  std::string names;
  for (const std::string& part : request.all("HOST:PORT")) names += (names.empty() ? "" : ",") + part;
  if (names.empty())
    return fail("no host given", {},
                "name where the job listens, e.g. localhost:6009; 'tfdata-doctor capture --help' has more");
  ASSIGN_OR_RETURN(std::vector<ProfilerAddress> hosts, parse_profiler_addresses(names));
  TracerOptions tracers = {.host_level = *request.number("host-tracer-level"),
                           .device_level = *request.number("device-tracer-level"),
                           .python_level = *request.number("python-tracer-level")};
  if (request.given("delay")) tracers.delay = request.duration("delay");
  return CaptureOptions{
      .hosts = std::move(hosts),
      .tracers = tracers,
      .duration = request.duration("duration"),
      .timeout = request.duration("timeout"),
      .most_bytes = *parse_memory_size(request.text("max-size")),
      .retries = *request.number("retries"),
      .retry_after = request.duration("retry-after"),
      .open_file = [](const std::string& path) -> Result<std::unique_ptr<ByteSink>> { return OutputFile::open(path); },
      .wait = wait_unless_interrupted};
}

/// Takes the FILE without a format out of the documents: it is the folder for traces. The page goes to standard output
/// then, if no other document does. Errors: --format asks for a page where another document goes, too.
Result<std::string> take_log_directory(const Request& request, OutputOptions& output) {
  OutputTarget& main = output.targets.front();
  if (main.is_standard_output()) return ".";
  std::string directory = std::exchange(main.path, {});
  const auto prints = [](const OutputTarget& target) { return target.is_standard_output(); };
  if (std::ranges::count_if(output.targets, prints) < 2) return directory;
  if (request.given("format"))
    return fail("two documents for standard output", "--output", "write one of them to a file");
  output.targets.erase(output.targets.begin());
  return directory;
}

Result<CaptureLoopOptions> loop_options(const Request& request) {
  CaptureLoopOptions loop;
  ASSIGN_OR_RETURN(loop.capture, capture_options_of(request));
  ASSIGN_OR_RETURN(loop.diagnosis, diagnosis_options(request));
  ASSIGN_OR_RETURN(loop.log_directory, take_log_directory(request, loop.diagnosis.output));
  if (request.given("every")) loop.every = request.duration("every");
  loop.count = request.number("count");
  loop.keeps_only_changes = request.is_set("keep-if-changed");
  for (const std::string_view option : {"count", "keep-if-changed"}) {
    if (!loop.every && request.given(option))
      return fail("is for captures that repeat", "--" + std::string(option), "say how often with --every");
  }
  return loop;
}

}  // namespace

Result<int> run_capture(const Request& request) {
  ASSIGN_OR_RETURN(const CaptureLoopOptions options, loop_options(request));
  std::optional<int> status;
  {
    const InterruptionGuard guard;
    status = CaptureLoop(options).run();
  }
  // A signal is how captures that repeat come to their end.
  if (status) return *status;
  print_error({"interrupted; nothing was stored", {}, {}, {}});
  end_by_signal(interrupting_signal());
  return kExitFailure;
}

}  // namespace doctor
