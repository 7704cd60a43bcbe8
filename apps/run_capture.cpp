#include <algorithm>
#include <utility>

#include "base/try.h"
#include "capture_loop.h"
#include "command_line/option_values.h"
#include "commands.h"
#include "process/exit_code.h"
#include "process/interruption.h"
#include "process/output.h"

namespace doctor {
namespace {

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
  if (std::count_if(output.targets.begin(), output.targets.end(), prints) < 2) return directory;
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
