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
  DataTable table;
  table.columns = {{"id", "id"},
                   {"label", "label"},
                   {"iterators", "iterators", ColumnKind::count},
                   {"median_step_us", "median step", ColumnKind::time},
                   {"findings", "findings", ColumnKind::count},
                   {"source", "source"}};
  for (const StoredRun& run : runs) {
    std::vector<Cell> row;
    row.emplace_back(run.id);
    row.emplace_back(run.label);
    row.emplace_back(static_cast<std::int64_t>(run.summary.iterators.size()));
    row.push_back(step_of(run.summary));
    row.emplace_back(static_cast<std::int64_t>(run.summary.findings.size()));
    row.emplace_back(run.summary.source);
    table.rows.push_back(std::move(row));
  }
  return render_table_text(table, format_count(runs.size(), "run"), runs.size(), width);
}

}  // namespace doctor
