#include "commands.h"
#include "diagnosis_page.h"
#include "process/output.h"

namespace doctor {

int run_diagnose(const Request& request) {
  const Result<ReadingOptions> reading = reading_options_with_traces(request);
  if (!reading) return fail_with(reading.error());
  const Result<DiagnosisOptions> options = diagnosis_options(request);
  if (!options) return fail_with(options.error());
  return run_page(options->reading, options->output, diagnosis_page(*options));
}

}  // namespace doctor
