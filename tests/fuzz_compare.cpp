// Two traces as two versions of a job: summarised, stored as baselines, read back and compared.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "compare/baseline.h"
#include "compare/comparison.h"
#include "compare/comparison_thresholds.h"
#include "compare/run_summary.h"
#include "documents.h"
#include "fuzz_analysis.h"
#include "fuzz_traces.h"
#include "report/comparison_pages.h"

namespace {

using namespace doctor;

/// The recording, so often that times are compared, or once.
std::vector<RunSummary> recordings(std::string_view bytes, bool are_several) {
  FuzzBytes choices(bytes);
  const FuzzFile file(fuzzed_trace(choices));
  const Analysis analysis = fuzz_analysis(file.path(), summary_needs());
  StoredRun run;
  run.summary = summarize_run("run", analysis.measurements, analysis.diagnosis);
  run.id = identifier_of(run.summary);
  const Result<std::vector<StoredRun>> stored = parse_baseline_json(to_baseline_json({run}), "baseline");
  expect(stored.has_value() && stored->size() == 1, "a baseline that cannot be read back");
  expect(to_baseline_json(*stored) == to_baseline_json({run}), "a baseline that changes when it is read");
  return std::vector<RunSummary>(are_several ? 6 : 1, stored->front().summary);
}

constexpr std::array kFormatsForCi = {OutputFormat::sarif, OutputFormat::gitlab, OutputFormat::github,
                                      OutputFormat::junit, OutputFormat::markdown};

}  // namespace

// The first byte says which document is made of the comparison.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  FuzzBytes bytes(data, size);
  const unsigned document = bytes.below(9);
  const unsigned flags = bytes.byte();
  const std::string_view rest = bytes.rest();
  const std::size_t middle = rest.size() * (flags >> 4U) / 15;
  const std::vector<RunSummary> base = recordings(rest.substr(0, middle), (flags & 1U) != 0);
  const std::vector<RunSummary> candidate = recordings(rest.substr(middle), (flags & 1U) != 0);
  ComparisonChoice choice;
  choice.is_weak = (flags & 2U) != 0;
  choice.judges_get_next = (flags & 4U) != 0;
  choice.judges_step = (flags & 8U) != 0;
  const ThresholdValues thresholds(comparison_thresholds(), {});
  const RunComparison comparison = compare(base, candidate, choice, thresholds);
  if (document < 2) {
    expect_clean_text(render_comparison_text(comparison, {}));
  } else if (document < 4) {
    expect_json(to_text(comparison_json(comparison)));
  } else {
    const OutputFormat format = kFormatsForCi[(document - 4) % kFormatsForCi.size()];
    expect_in_format(render_problems(problems_of(comparison, {}), format).value_or(""), format);
  }
  return 0;
}
