#include <algorithm>

#include "report/comparison_pages.h"
#include "text/data_table.h"
#include "text/numbers.h"

namespace doctor {
namespace {

/// Median time from one GetNext call to the next, of the pipeline with the most calls.
Cell step_of(const RunSummary& summary) {
  const auto longest =
      std::max_element(summary.pipelines.begin(), summary.pipelines.end(),
                       [](const PipelineSummary& a, const PipelineSummary& b) { return a.step.count < b.step.count; });
  if (longest == summary.pipelines.end() || longest->step.count == 0) return std::monostate{};
  return longest->step.median;
}

}  // namespace

std::string render_baseline_text(const std::vector<StoredRun>& runs, PageWidth width) {
  static const std::vector<Field<StoredRun>> fields = {
      {{"id", "id"}, &StoredRun::id},
      {{"label", "label"}, &StoredRun::label},
      {{"iterators", "iterators", ColumnKind::count},
       [](const auto& run) { return count_cell(run.summary.iterators.size()); }},
      {{"median_step_us", "median step", ColumnKind::time}, [](const auto& run) { return step_of(run.summary); }},
      {{"findings", "findings", ColumnKind::count},
       [](const auto& run) { return count_cell(run.summary.findings.size()); }},
      {{"source", "source"}, [](const auto& run) { return run.summary.source; }}};
  return render_table_text(table_of(fields, runs), format_count(runs.size(), "run"), runs.size(), width);
}

}  // namespace doctor
