#include "commands.h"
#include "documents.h"
#include "fleet/fleet.h"
#include "fleet/fleet_report.h"
#include "process/exit_code.h"
#include "process/output.h"

namespace doctor {
namespace {

/// Entries of each ranking that a person wants to see.
constexpr std::size_t kShownEntries = 10;

std::string render(const Fleet& fleet, const Options& options) {
  if (options.format == OutputFormat::json) return render_fleet_json(fleet, options.top.value_or(0));
  if (options.format == OutputFormat::csv) return render_fleet_csv(fleet, options.top.value_or(0));
  if (options.format == OutputFormat::markdown) {
    return render_fleet_markdown(fleet, options.top.value_or(kShownEntries));
  }
  if (options.quiet) return render_fleet_summary(fleet, style_of(options));
  return render_fleet_text(fleet, options.top.value_or(kShownEntries), style_of(options));
}

}  // namespace

int run_fleet(const Options& options) {
  Result<void> done = check_output(options.output, options.traces);
  if (done) {
    const Result<Fleet> fleet = read_fleet(options.traces);
    if (fleet) {
      done = write_output(render(*fleet, options), options.output);
      if (done) return fleet->has_verdict() ? kExitClean : kExitNothing;
    } else {
      done = Unexpected(fleet.error());
    }
  }
  print_error(done.error());
  return kExitFailure;
}

}  // namespace doctor
