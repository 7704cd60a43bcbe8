#include <fmt/format.h>

#include <algorithm>

#include "report/comparison_page.h"
#include "text/numbers.h"
#include "text/text_page.h"

namespace doctor {
namespace {

Tone tone_of(ComparisonOutcome outcome) {
  switch (outcome) {
    case ComparisonOutcome::regression:
      return Tone::bad;
    case ComparisonOutcome::no_regression:
      return Tone::good;
    case ComparisonOutcome::inconclusive:
      break;
  }
  return Tone::unsure;
}

std::string_view label_of(const StructureChange& change) {
  if (is_regression(change)) return "worse";
  return change.is_certain ? "changed" : "~";
}

void add_rows(const std::vector<TimeRow>& rows, Detail detail, TextPage& page) {
  // A screen has room for what costs most; a table of all is for -v and JSON.
  constexpr std::size_t kScreenful = 8;
  std::size_t shown = 0;
  std::size_t left_out = 0;
  for (const TimeRow& row : rows) {
    const bool is_wanted = is_regression(row) || (is_worth_a_line(row) && shown < kScreenful) || detail == Detail::full;
    if (!is_wanted) {
      ++left_out;
      continue;
    }
    ++shown;
    page.row(to_word(row.difference), describe_subject(row) + ": " + describe_row(row));
  }
  if (left_out > 0) page.row("", fmt::format("{} not shown: -v shows all", format_count(left_out, "row")));
}

}  // namespace

std::string render_comparison_text(const RunComparison& comparison, const TextStyle& style) {
  TextPage page(style.color);
  page.headline(verdict_words(comparison.outcome), summarize(comparison), tone_of(comparison.outcome));
  if (style.detail == Detail::verdict) return page.take();
  page.row("compared",
           fmt::format("{} base with {} candidate recordings", comparison.base_count, comparison.candidate_count));
  const bool has_both = comparison.base_count > 0 && comparison.candidate_count > 0;
  if (has_both && comparison.changes.empty()) page.row("pipeline", "the same iterators, settings and findings");
  for (const StructureChange& change : comparison.changes) page.row(label_of(change), change.message);
  add_rows(comparison.rows, style.detail, page);
  for (const TimeRow& row : comparison.pipeline_rows) {
    page.row(row.is_judged ? to_word(row.difference) : "for info", describe_subject(row) + ": " + describe_row(row));
  }
  for (const std::string& note : comparison.notes) page.row("note", note);
  return page.take();
}

}  // namespace doctor
