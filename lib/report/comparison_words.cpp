#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/numbers.h"
#include "report/comparison_page.h"

namespace doctor {
namespace {

std::string time_words(double microseconds) {
  return format_time(static_cast<Picoseconds>(std::llround(microseconds * 1e6)));
}

/// "+520 us", "-1.20 ms".
std::string signed_time(double microseconds) {
  return (microseconds < 0 ? "-" : "+") + time_words(std::abs(microseconds));
}

std::string values_of(const TimeRow& row) {
  switch (row.kind) {
    case TimeKind::tail:
      return fmt::format("{} -> {} of its time in calls of many times the usual", format_share(row.base_median),
                         format_share(row.candidate_median));
    case TimeKind::calls:
      return fmt::format("{:.4g} -> {:.4g} calls a step", row.base_median, row.candidate_median);
    case TimeKind::get_next:
    case TimeKind::step:
      return fmt::format("{} -> {} (median)", time_words(row.base_median), time_words(row.candidate_median));
    case TimeKind::self:
    case TimeKind::op:
      break;
  }
  return fmt::format("{} -> {} a call", time_words(row.base_median), time_words(row.candidate_median));
}

std::size_t regression_count(const RunComparison& comparison) {
  const auto count = [](const auto& items) {
    return static_cast<std::size_t>(
        std::count_if(items.begin(), items.end(), [](const auto& item) { return is_regression(item); }));
  };
  return count(comparison.changes) + count(comparison.rows) + count(comparison.pipeline_rows);
}

std::string first_regression(const RunComparison& comparison) {
  for (const StructureChange& change : comparison.changes) {
    if (is_regression(change)) return change.message;
  }
  for (const std::vector<TimeRow>* rows : {&comparison.rows, &comparison.pipeline_rows}) {
    for (const TimeRow& row : *rows) {
      if (is_regression(row)) return describe_subject(row) + ": " + describe_row(row);
    }
  }
  return {};
}

}  // namespace

std::string_view verdict_words(ComparisonOutcome outcome) {
  switch (outcome) {
    case ComparisonOutcome::regression:
      return "REGRESSION";
    case ComparisonOutcome::no_regression:
      return "NO REGRESSION";
    case ComparisonOutcome::inconclusive:
      break;
  }
  return "INCONCLUSIVE";
}

std::string summarize(const RunComparison& comparison) {
  const std::size_t judged = static_cast<std::size_t>(
      std::count_if(comparison.rows.begin(), comparison.rows.end(), [](const TimeRow& row) { return row.is_judged; }));
  const std::size_t count = regression_count(comparison);
  switch (comparison.outcome) {
    case ComparisonOutcome::regression:
      return first_regression(comparison) + (count > 1 ? fmt::format("; and {} more", count - 1) : "");
    case ComparisonOutcome::no_regression:
      return fmt::format("nothing got slower ({}, {} base and {} candidate recordings)",
                         format_count(judged, "number") + " compared", comparison.base_count,
                         comparison.candidate_count);
    case ComparisonOutcome::inconclusive:
      break;
  }
  if (std::min(comparison.base_count, comparison.candidate_count) < comparison.needed_count) {
    return fmt::format("the pipeline is the same; times need {} recordings a side, there are {} and {}",
                       comparison.needed_count, comparison.base_count, comparison.candidate_count);
  }
  return "no iterator and no op has enough calls in enough recordings to be compared";
}

std::string describe_subject(const TimeRow& row) {
  return row.op.empty() ? row.words : row.op + " in " + row.words;
}

std::string describe_row(const TimeRow& row) {
  if (row.base.empty() || row.candidate.empty()) return row.reason;
  std::string text = values_of(row);
  if (row.interval && row.ratio() > 0) {
    text += fmt::format(", x{:.3g} ({:.3g} to {:.3g} with {:.0f} %)", row.ratio(), row.interval->low,
                        row.interval->high, 100 * row.interval->confidence);
  }
  if (row.kind != TimeKind::get_next && row.kind != TimeKind::step && std::abs(row.cost_us) >= 0.01) {
    text += fmt::format(", {} a step", signed_time(row.cost_us));
  }
  if (!row.reason.empty()) text += "; " + row.reason;
  if (row.needed) text += fmt::format(" ({} a side would tell)", format_count(*row.needed, "recording"));
  return text;
}

}  // namespace doctor
