#include "analysis.h"
#include "base/try.h"
#include "commands.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "report/checklist_page.h"

namespace doctor {

Result<int> run_checklist(const Request& request) {
  ASSIGN_OR_RETURN(const ReadingOptions reading, reading_options_with_traces(request));
  ASSIGN_OR_RETURN(const OutputOptions output, output_options(request));
  const auto render = [&](const Analysis& analysis, OutputFormat format) {
    const Measurements& measurements = analysis.measurements;
    const Diagnosis& diagnosis = analysis.diagnosis;
    if (format == OutputFormat::json) return to_text(checklist_json(measurements, diagnosis));
    if (format == OutputFormat::markdown) return render_checklist_markdown(measurements, diagnosis);
    return render_checklist_text(measurements, diagnosis, style_of(output, reading.traces));
  };
  // Questions are answered, nothing is judged: findings do not count here.
  const auto judge = [](const Analysis& analysis) {
    return shows_tf_data(analysis.measurements) ? kExitClean : kExitNothing;
  };
  return run_page(reading, output, {{}, {}, render, judge});
}

}  // namespace doctor
