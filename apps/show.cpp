#include <algorithm>
#include <chrono>

#include "analysis.h"
#include "commands.h"
#include "exit_code.h"
#include "output.h"
#include "report/report.h"

namespace doctor {
namespace {

bool has_iterators(const Measurements& measurements) {
  return std::any_of(measurements.hosts.begin(), measurements.hosts.end(),
                     [](const HostMeasurement& host) { return !host.iterators.empty() || !host.pipelines.empty(); });
}

}  // namespace

int run_show(const Options& options) {
  const Result<Analysis> analysis = analyze_traces(options);
  if (!analysis) {
    print_error(analysis.error());
    return kExitFailure;
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::string page = options.format == OutputFormat::json
                               ? render_tree_json(analysis->measurements, analysis->diagnosis)
                               : render_tree_text(analysis->measurements, analysis->diagnosis);
  const Result<void> written = write_output(page, options.output);
  if (options.timings) print_timings(*analysis, std::chrono::steady_clock::now() - begin);
  if (!written) {
    print_error(written.error());
    return kExitFailure;
  }
  // Numbers are shown, nothing is judged: findings do not count here.
  return has_iterators(analysis->measurements) ? kExitClean : kExitNothing;
}

}  // namespace doctor
