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

/// The numbers that were judged, as many as a comment has room for.
DataTable numbers_of(const RunComparison& comparison) {
  constexpr std::size_t kMostNumbers = 20;
  DataTable table;
  for (const std::string_view title : {"what", "base", "candidate", "ratio", "a step", ""}) {
    table.columns.push_back({.key = title, .title = title, .fit = Fit::keep});
  }
  for (const std::vector<TimeRow>* rows : {&comparison.rows, &comparison.pipeline_rows}) {
    for (const TimeRow& row : *rows) {
      if (!row.is_judged || table.rows.size() == kMostNumbers) continue;
      const std::string unit = row.kind == TimeKind::self || row.kind == TimeKind::op ? " a call" : "";
      table.rows.push_back({describe_subject(row), describe_value(row, row.base_median) + unit,
                            describe_value(row, row.candidate_median) + unit, describe_ratio(row), describe_cost(row),
                            std::string(to_word(row.difference))});
    }
  }
  return table;
}

/// The stages that changed most, and the slowest: those that nobody would see in a picture are left out.
std::vector<const StageTimes*> drawn_stages(const std::vector<StageTimes>& stages) {
  constexpr std::size_t kMostChanged = 3;
  constexpr double kLeastChange = 0.02;  // of the longest bar
  const auto longer = [](const StageTimes& stage) { return std::max(stage.base_us, stage.candidate_us); };
  const auto slowest = std::ranges::max_element(stages, {}, longer);
  std::vector<const StageTimes*> drawn;
  for (const StageTimes& stage : stages) {
    const bool is_changed = std::abs(stage.candidate_us - stage.base_us) >= kLeastChange * longer(*slowest);
    if (is_changed && drawn.size() < kMostChanged) drawn.push_back(&stage);
  }
  if (!drawn.empty() && std::ranges::find(drawn, &*slowest) == drawn.end()) drawn.push_back(&*slowest);
  return drawn;
}

/// What the stages need for a step, before and after, in bars of characters on one axis.
std::vector<std::string> picture_of(const RunComparison& comparison) {
  constexpr double kLongestBar = 40;
  const std::vector<const StageTimes*> drawn = drawn_stages(comparison.stages);
  double longest = 0;
  std::size_t name_width = 0;
  for (const StageTimes* const stage : drawn) {
    longest = std::max({longest, stage->base_us, stage->candidate_us});
    name_width = std::max(name_width, column_count(stage->words));
  }
  std::vector<std::string> lines;
  for (const StageTimes* const stage : drawn) {
    const std::string padding(name_width - column_count(stage->words), ' ');
    for (const auto& [side, time] : {std::pair("before", stage->base_us), std::pair("after", stage->candidate_us)}) {
      std::string bar;
      const auto length = static_cast<int>(std::lround(kLongestBar * time / longest));
      for (int part = 0; part < (time > 0 ? std::max(1, length) : 0); ++part) bar += "\u2588";
      lines.push_back(fmt::format("{}{}  {:6} {}{}", stage->words, padding, side, bar,
                                  time > 0 ? " " + format_microseconds(time) : "-"));
    }
  }
  return lines;
}

/// A comment on a pull request that changes nothing is one line.
std::string one_line_of(const RunComparison& comparison) {
  const std::string recordings = fmt::format("{} + {} recordings", comparison.base_count, comparison.candidate_count);
  if (is_unchanged(comparison)) {
    return fmt::format("Input pipeline unchanged: {}, {}", format_count(judged_count(comparison), "number"),
                       recordings);
  }
  if (comparison.outcome == ComparisonOutcome::regression) return {};
  return fmt::format("Input pipeline{}: {}", comparison.outcome == ComparisonOutcome::inconclusive ? " not judged" : "",
                     summarize(comparison));
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
  report.title = "Input pipeline";
  report.one_line = one_line_of(comparison);
  if (comparison.outcome == ComparisonOutcome::regression) report.picture = picture_of(comparison);
  report.next = {
      {"Reproduce", "tfdata-doctor compare " + context.arguments + " -v"},
      {context.baseline.empty() ? "Accept it by merging: the base of the next comparison has it" : "Accept it",
       context.baseline.empty() ? "" : "tfdata-doctor baseline add " + context.baseline}};
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
