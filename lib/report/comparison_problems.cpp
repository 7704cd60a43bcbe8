#include "compare/comparison_thresholds.h"
#include "report/comparison_pages.h"
#include "report/json_values.h"
#include "report/problem.h"

namespace doctor {
namespace {

struct Kind {
  std::string_view id;
  std::string_view title;
};

// Ids of what a comparison can find. They are in documents that others keep, so they never change.
constexpr Kind kStructure = {"pipeline-changed", "an iterator was added, removed, moved or became sequential"};
constexpr Kind kSetting = {"setting-changed", "parallelism, a buffer, a batch size or another setting changed"};
constexpr Kind kCalls = {"more-calls", "an iterator is called more often for each step"};
constexpr Kind kFunction = {
    "function-changed",
    "the function of an iterator runs an op that it did not run, or more often, or makes larger elements"};
constexpr Kind kFinding = {"new-finding", "a rule fires in the candidate that did not fire in the base"};
constexpr Kind kSlower = {"slower-call", "calls of an iterator or an op take longer"};
constexpr Kind kTail = {"slower-tail", "some calls of an iterator or an op take many times as long as usual"};
constexpr Kind kStep = {"slower-step", "GetNext or the whole step takes longer"};
constexpr Kind kBudget = {"budget", "the candidate exceeds a budget"};
constexpr std::array<Kind, 9> kKinds = {kStructure, kSetting, kCalls, kFunction, kFinding,
                                        kSlower,    kTail,    kStep,  kBudget};

const Kind& kind_of(const StructureChange& change) {
  switch (change.kind) {
    case ChangeKind::setting_changed:
      return kSetting;
    case ChangeKind::calls_changed:
      return kCalls;
    case ChangeKind::budget_exceeded:
      return kBudget;
    case ChangeKind::finding_new:
    case ChangeKind::finding_gone:
      return kFinding;
    case ChangeKind::op_added:
    case ChangeKind::op_calls_changed:
    case ChangeKind::element_bytes_changed:
      return kFunction;
    case ChangeKind::iterator_added:
    case ChangeKind::iterator_removed:
    case ChangeKind::iterator_moved:
    case ChangeKind::form_changed:
      break;
  }
  return kStructure;
}

const Kind& kind_of(const TimeRow& row) {
  using enum TimeKind;
  if (row.kind == tail || row.kind == calls) return row.kind == tail ? kTail : kCalls;
  return row.kind == get_next || row.kind == step || row.kind == modelled ? kStep : kSlower;
}

Problem problem_of(const Kind& kind, const std::string& subject, const ProblemLocation& location) {
  Problem problem;
  problem.rule = kind.id;
  problem.subject = subject;
  problem.location = location;
  return problem;
}

Problem problem_of(const StructureChange& change, const ProblemLocation& location) {
  Problem problem = problem_of(kind_of(change), change.subject, location);
  problem.fails = is_regression(change);
  problem.severity = problem.fails ? Severity::error : Severity::note;
  problem.message = change.message;
  // Settings of one iterator, and findings about it, are distinguished by how their sentence begins.
  problem.identity = fold_like_elements(change.subject) + '\n' + change.message.substr(0, change.message.find(':'));
  return problem;
}

Problem problem_of(const TimeRow& row, const ProblemLocation& location) {
  Problem problem = problem_of(kind_of(row), row.subject, location);
  problem.fails = true;
  problem.severity = Severity::error;
  problem.message = describe_subject(row) + ": " + describe_row(row);
  const std::string_view unit = row.kind == TimeKind::tail ? "share" : row.kind == TimeKind::calls ? "calls" : "us";
  problem.evidence = {{"base", row.base_median, std::string(unit)},
                      {"candidate", row.candidate_median, std::string(unit)},
                      {"cost a step", row.cost_us, "us"},
                      {"p value", row.p_value, ""}};
  problem.identity = fold_like_elements(row.subject) + '\n' + row.op + '\n' +
                     (row.kind == TimeKind::step       ? "step"
                      : row.kind == TimeKind::modelled ? "work"
                                                       : "");
  return problem;
}

/// What a comment has room for.
DataTable numbers_of(const RunComparison& comparison) {
  constexpr std::size_t kMostNumbers = 20;
  DataTable table;
  for (const std::string_view title : {"what", "base", "candidate", "ratio", "a step", ""}) {
    table.columns.push_back({.key = title, .title = title, .fit = Fit::keep});
  }
  const auto add = [&](const TimeRow& row) {
    if (table.rows.size() == kMostNumbers) return;
    const std::string unit = row.kind == TimeKind::self || row.kind == TimeKind::op ? " a call" : "";
    const bool is_whole = is_of_consumer(row.kind);
    table.rows.push_back({describe_subject(row), describe_value(row, row.base_median) + unit,
                          describe_value(row, row.candidate_median) + unit, describe_ratio(row), describe_cost(row),
                          is_whole && !row.is_judged ? "not judged" : std::string(to_word(row.difference))});
  };
  for (const TimeRow& row : comparison.rows) {
    if (is_worth_a_line(row)) add(row);
  }
  for (const TimeRow& row : comparison.pipeline_rows) add(row);
  return table;
}

/// "step, base       ████ 3.70 ms": what the user feels, in bars of characters.
std::vector<std::string> picture_of(const RunComparison& comparison) {
  constexpr double kLongestBar = 40;
  const TimeRow* const step = felt_row(comparison);
  if (step == nullptr || step->ratio() <= 0) return {};
  const double longest = std::max(step->base_median, step->candidate_median);
  std::vector<std::string> lines;
  for (const auto& [side, value] :
       {std::pair("base", step->base_median), std::pair("candidate", step->candidate_median)}) {
    std::string bar;
    const auto length = static_cast<int>(std::lround(kLongestBar * value / longest));
    for (int part = 0; part < std::max(1, length); ++part) bar += "\u2588";
    lines.push_back(fmt::format("a step, {:9} {} {}", side, bar, describe_value(*step, value)));
  }
  return lines;
}

ProblemOutcome outcome_of(ComparisonOutcome outcome) {
  using enum ComparisonOutcome;
  return outcome == regression      ? ProblemOutcome::failed
         : outcome == no_regression ? ProblemOutcome::passed
                                    : ProblemOutcome::nothing_to_judge;
}

}  // namespace

ProblemReport problems_of(const RunComparison& comparison, const ComparisonContext& context) {
  ProblemReport report;
  report.command = "compare";
  report.verdict = verdict_words(comparison.outcome);
  report.summary = summarize(comparison);
  report.outcome = outcome_of(comparison.outcome);
  report.numbers = numbers_of(comparison);
  report.picture = picture_of(comparison);
  report.notes = comparison.notes;
  report.explanation = "tfdata-doctor explain compare";
  const std::string page(comparison_catalog_entry().page);
  for (const Kind& kind : kKinds) {
    report.rules.push_back({std::string(kind.id), std::string(kind.title), page, Severity::error});
  }
  const ProblemLocation location =
      context.source ? *context.source : ProblemLocation{trace_location(context.candidate, context.working_directory)};
  const auto place_of = [&](const std::optional<SourceLine>& line) {
    const auto known = line ? location_in_repository(*line, context.source, context.working_directory) : std::nullopt;
    return known.value_or(location);
  };
  for (const StructureChange& change : comparison.changes) {
    if (change.is_certain) report.problems.push_back(problem_of(change, place_of(change.source)));
  }
  for (const std::vector<TimeRow>* rows : {&comparison.rows, &comparison.pipeline_rows}) {
    for (const TimeRow& row : *rows) {
      if (is_regression(row)) report.problems.push_back(problem_of(row, place_of(row.source)));
    }
  }
  std::ranges::stable_sort(report.problems, [](const Problem& a, const Problem& b) { return a.severity > b.severity; });
  set_fingerprints(report.problems);
  if (comparison.outcome == ComparisonOutcome::inconclusive) {
    for (const Kind& kind : {kSlower, kTail}) report.not_evaluated.push_back({std::string(kind.id), report.summary});
  }
  return report;
}

}  // namespace doctor
