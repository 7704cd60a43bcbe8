#include <algorithm>
#include <filesystem>
#include <system_error>

#include "commands.h"
#include "compare/baseline_store.h"
#include "compare/comparison.h"
#include "compare/comparison_thresholds.h"
#include "diagnose/threshold_settings.h"
#include "documents.h"
#include "process/current_work.h"
#include "process/exit_code.h"
#include "process/memory_limit.h"
#include "process/output.h"
#include "recordings.h"
#include "report/comparison_page.h"
#include "report/comparison_problems.h"

namespace doctor {
namespace {

std::vector<RunSummary> summaries_of(const Recordings& recordings) {
  std::vector<RunSummary> summaries;
  for (const StoredRun& run : recordings.runs) summaries.push_back(run.summary);
  return summaries;
}

/// The runs of a baseline that have the label that is asked for, or all.
Result<Recordings> read_baseline(const Options& options) {
  Result<std::vector<StoredRun>> runs = load_baseline(*options.baseline);
  if (!runs) return Unexpected(std::move(runs.error()));
  Recordings recordings;
  recordings.files = {*options.baseline};
  for (StoredRun& run : *runs) {
    if (options.label.empty() || run.label == options.label) recordings.runs.push_back(std::move(run));
  }
  if (recordings.runs.empty() && !options.label.empty()) {
    return fail("holds no run with the label '" + options.label + "'", *options.baseline,
                "'tfdata-doctor baseline show' lists its runs");
  }
  return recordings;
}

struct Sides {
  Recordings base;
  Recordings candidate;
};

Result<Sides> read_sides(const Options& options) {
  if (const Result<void> limited = limit_memory_if_wanted(options.max_memory); !limited) {
    return Unexpected(limited.error());
  }
  Result<Recordings> base = options.baseline ? read_baseline(options) : read_recordings(options, options.base);
  if (!base) return Unexpected(std::move(base.error()));
  Result<Recordings> candidate = read_recordings(options, options.traces);
  if (!candidate) return Unexpected(std::move(candidate.error()));
  std::vector<std::string> files = base->files;
  files.insert(files.end(), candidate->files.begin(), candidate->files.end());
  if (const Result<void> kept = check_outputs(outputs_of(options), files); !kept) return Unexpected(kept.error());
  return Sides{*std::move(base), *std::move(candidate)};
}

/// A recording that stands on both sides is compared with itself.
void warn_of_shared_runs(const Sides& sides) {
  for (const StoredRun& run : sides.candidate.runs) {
    const auto is_same = [&](const StoredRun& other) { return other.id == run.id; };
    if (std::any_of(sides.base.runs.begin(), sides.base.runs.end(), is_same)) {
      print_error({"stands on both sides of the comparison", run.summary.source, {}, {}});
    }
  }
}

std::string render(const RunComparison& comparison, const ProblemReport& problems, OutputFormat format,
                   const Options& options) {
  if (format == OutputFormat::text) return render_comparison_text(comparison, style_of(options));
  if (format == OutputFormat::json) return render_comparison_json(comparison);
  return render_problems(problems, format).value_or("");
}

}  // namespace

int run_compare(const Options& options) {
  const Result<Sides> sides = read_sides(options);
  if (!sides) {
    print_error(sides.error());
    return kExitFailure;
  }
  print_missing(options, sides->base);
  print_missing(options, sides->candidate);
  if (!options.quiet) warn_of_shared_runs(*sides);
  current_work().progress.stage = "compare";
  ComparisonChoice choice = options.comparison;
  choice.fail_on = options.fail_on;
  const ThresholdValues thresholds =
      values_in_force(kComparisonThresholds, comparison_thresholds(), in_force(options.settings.thresholds));
  const RunComparison comparison =
      compare(summaries_of(sides->base), summaries_of(sides->candidate), choice, thresholds);
  ComparisonContext context;
  context.source = options.source_file;
  if (!sides->candidate.files.empty()) context.candidate = sides->candidate.files.front();
  std::error_code ignored;  // without a working directory no file lies below it
  context.working_directory = std::filesystem::current_path(ignored).string();
  const ProblemReport problems = problems_of(comparison, context);
  const bool are_written =
      write_documents(options, [&](OutputFormat format) { return render(comparison, problems, format, options); });
  const bool are_read = sides->base.unreadable.empty() && sides->candidate.unreadable.empty();
  return are_written && are_read ? exit_code_of(problems.outcome) : kExitFailure;
}

}  // namespace doctor
