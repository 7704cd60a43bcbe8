#include "analysis.h"

#include <sched.h>

#include "base/try.h"
#include "command_line/option_values.h"
#include "io/trace_inputs.h"
#include "process/progress.h"
#include "process/timings.h"

namespace doctor {
namespace {

/// Of a gigabyte on 16 cores, one thread reads for 2.4 s, four for 1.1, eight for 1.0 with a tenth more CPU, and 16
/// for 1.2 with twice as much.
constexpr unsigned kUsualThreads = 4;
constexpr unsigned kMostUsefulThreads = 8;

}  // namespace

unsigned usable_cores() {
  // Not hardware_concurrency(): glibc counts the cores of the machine.
  cpu_set_t cores;
  if (::sched_getaffinity(0, sizeof(cores), &cores) == 0) return static_cast<unsigned>(CPU_COUNT(&cores));
  return std::max(1U, std::thread::hardware_concurrency());
}

std::vector<std::string> paths_of(const OutputOptions& output) {
  std::vector<std::string> paths;
  for (const OutputTarget& target : output.targets) paths.push_back(target.path);
  return paths;
}

ReadingOptions reading_options(const Request& request) {
  ReadingOptions reading;
  reading.traces = request.all("TRACE");
  if (const std::string run = request.text("run"); !run.empty()) reading.run = run;
  reading.host = request.given("host");
  const std::size_t threads = request.number("threads").value_or(std::min(usable_cores(), kUsualThreads));
  reading.setup = {.rules = all_rules(),
                   .thresholds = in_force(request.thresholds),
                   .suppressions = request.suppressions,
                   .today = request.today,
                   .work = {.threads = static_cast<unsigned>(std::min<std::size_t>(threads, kMostUsefulThreads))}};
  const std::optional<std::string> size = request.given("max-memory");
  reading.max_memory = size ? memory_limit(*parse_memory_size(*size), *size) : usual_memory_limit();
  reading.timings = request.is_set("timings");
  reading.sandbox = sandbox_choice(request);
  return reading;
}

Result<ReadingOptions> reading_options_with_traces(const Request& request) {
  if (!request.all("TRACE").empty()) return reading_options(request);
  return fail("no trace given", {}, "see 'tfdata-doctor --help'");
}

void run_watched(const std::vector<std::string>& files, bool is_quiet, const std::function<void(Progress&)>& work) {
  Progress& progress = current_work().progress;
  name_current_files(files);
  std::optional<ProgressBar> bar;
  if (wants_progress_bar(is_quiet, STDERR_FILENO)) bar.emplace(progress, files.size(), status_line());
  work(progress);
}

Analysis diagnose_watched(const std::vector<std::string>& files, DiagnosisSetup setup, bool is_quiet) {
  Analysis analysis;
  run_watched(files, is_quiet, [&](Progress& progress) {
    setup.work.progress = &progress;
    analysis = diagnose_files(files, setup);
  });
  return analysis;
}

Result<Analysis> analyze_traces(const ReadingOptions& reading, const OutputOptions& output, const TracePage& page) {
  const Result<std::vector<std::string>> files =
      reading.files ? *reading.files : resolve_inputs(reading.traces, reading.run);
  if (!files) return Unexpected(files.error());
  RETURN_IF_ERROR(check_outputs(output.targets, *files));
  // Only now: a directory that cannot be listed for want of memory would look like one that may not be listed.
  RETURN_IF_ERROR(limit_memory(reading.max_memory));
  RETURN_IF_ERROR(enter_sandbox(reading.sandbox, {.inputs = *files, .outputs = paths_of(output)}));

  DiagnosisSetup setup = reading.setup;
  setup.needs = page.needs;
  setup.host = reading.host;
  Analysis analysis = diagnose_watched(*files, std::move(setup), output.quiet);
  RETURN_IF_ERROR(print_unreadable(analysis.unreadable, analysis.has_readable_file(), !output.quiet));
  if (!analysis.host_choice) return Unexpected(analysis.host_choice.error());
  if (page.prepare) page.prepare(analysis);
  return analysis;
}

int write_page(const Analysis& analysis, const ReadingOptions& reading, const OutputOptions& output,
               const TracePage& page) {
  current_work().progress.stage = "render and write";
  const auto begin = std::chrono::steady_clock::now();
  const bool are_written = write_documents(output, [&](OutputFormat format) { return page.render(analysis, format); });
  const auto rendered = std::chrono::steady_clock::now() - begin;
  if (reading.timings) print_note(render_timings(analysis, rendered, reading.setup.work.threads));
  return are_written ? page.judge(analysis) : kExitFailure;
}

Result<int> run_page(const ReadingOptions& reading, const OutputOptions& output, const TracePage& page) {
  ASSIGN_OR_RETURN(const Analysis analysis, analyze_traces(reading, output, page));
  return write_page(analysis, reading, output, page);
}

}  // namespace doctor
