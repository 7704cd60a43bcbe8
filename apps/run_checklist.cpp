#include "analysis.h"
#include "commands.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "report/checklist_page.h"

namespace doctor {

int run_checklist(const Request& request) {
  const Result<ReadingOptions> reading = reading_options_with_traces(request);
  if (!reading) return fail_with(reading.error());
  const Result<OutputOptions> output = output_options(request);
  if (!output) return fail_with(output.error());
  const auto render = [&](const Analysis& analysis, OutputFormat format) {
    const Measurements& measurements = analysis.measurements;
    const Diagnosis& diagnosis = analysis.diagnosis;
    if (format == OutputFormat::json) return to_text(checklist_json(measurements, diagnosis));
    if (format == OutputFormat::markdown) return render_checklist_markdown(measurements, diagnosis);
    return render_checklist_text(measurements, diagnosis, style_of(*output, reading->traces));
  };
  // Questions are answered, nothing is judged: findings do not count here.
  const auto judge = [](const Analysis& analysis) {
    return shows_tf_data(analysis.measurements) ? kExitClean : kExitNothing;
  };
  return run_page(*reading, *output, {{}, {}, render, judge});
}

}  // namespace doctor
