#include "base/try.h"
#include "commands.h"
#include "diagnosis_page.h"
#include "process/output.h"

namespace doctor {

Result<int> run_diagnose(const Request& request) {
  ASSIGN_OR_RETURN(const ReadingOptions reading, reading_options_with_traces(request));
  ASSIGN_OR_RETURN(const DiagnosisOptions options, diagnosis_options(request));
  return run_page(options.reading, options.output, diagnosis_page(options));
}

}  // namespace doctor
