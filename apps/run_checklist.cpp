#include <array>

#include "analysis.h"
#include "base/try.h"
#include "commands.h"
#include "process/exit_code.h"
#include "process/output.h"
#include "report/show_pages.h"

namespace doctor {
namespace {

using ChecklistRenderer = std::string(const Measurements& measurements, const Diagnosis& diagnosis,
                                      const TextStyle& style);

constexpr std::array<FormatRow<ChecklistRenderer>, 3> kChecklistFormats = {
    {{OutputFormat::text, render_checklist_text},
     {OutputFormat::json, [](const Measurements& measurements, const Diagnosis& diagnosis,
                             const TextStyle&) { return to_text(checklist_json(measurements, diagnosis)); }},
     {OutputFormat::markdown, [](const Measurements& measurements, const Diagnosis& diagnosis, const TextStyle&) {
        return render_checklist_markdown(measurements, diagnosis);
      }}}};

}  // namespace

std::vector<OutputFormat> checklist_formats() {
  return formats_in(kChecklistFormats);
}

Result<int> run_checklist(const Request& request) {
  ASSIGN_OR_RETURN(const ReadingOptions reading, reading_options_with_traces(request));
  ASSIGN_OR_RETURN(const OutputOptions output, output_options(request));
  const auto render = [&](const Analysis& analysis, OutputFormat format) {
    return row_of(kChecklistFormats, format)
        .render(analysis.measurements, analysis.diagnosis, style_of(output, reading.traces));
  };
  // Questions are answered, nothing is judged: findings do not count here.
  const auto judge = [](const Analysis& analysis) {
    return analysis.measurements.shows_tf_data() ? kExitClean : kExitNothing;
  };
  return run_page(reading, output, {{}, {}, render, judge});
}

}  // namespace doctor
