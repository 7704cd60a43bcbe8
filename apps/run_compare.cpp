#include "command_line/option_values.h"
#include "commands.h"
#include "compare/baseline_store.h"
#include "compare/comparison_thresholds.h"
#include "process/progress.h"
#include "recordings.h"
#include "report/comparison_pages.h"
#include "report/html/html_page.h"
#include "text/escape.h"

namespace doctor {
namespace {

struct CompareOptions {
  std::vector<std::string> base;
  std::vector<std::string> candidate;
  std::optional<std::string> baseline;  ///< a file, in place of `base`
  std::optional<std::string> ideal;     ///< recordings of a measured ceiling
  std::string label;                    ///< of the runs in the baseline; empty: any
  ComparisonChoice choice;
  std::vector<Budget> budgets;  ///< of the candidate
  ReadingOptions reading;
  OutputOptions output;
  std::optional<ProblemLocation> source_file;
};

/// Parts the arguments at the "--". Without one all of them are candidates. Errors: a side is missing.
Result<void> take_sides(const Request& request, CompareOptions& options) {
  const std::string usage = "tfdata-doctor compare BASE... -- CANDIDATE..., or compare --baseline FILE CANDIDATE...";
  const std::vector<std::string>& arguments = request.arguments.begin()->second;
  const auto between = std::ranges::find(arguments, kBetweenSides);
  const bool has_sides = between != arguments.end();
  // One that a file or a variable names stands in for a base that is not named.
  const GivenValue* const baseline = request.values.find("baseline");
  const bool counts = baseline != nullptr && (baseline->origin == Origin::command_line || !has_sides);
  if (counts) options.baseline = baseline->text;
  if (has_sides) options.base.assign(arguments.begin(), between);
  options.candidate.assign(has_sides ? between + 1 : arguments.begin(), arguments.end());
  if (options.baseline && !options.base.empty()) {
    return fail("compare takes BASE... or --baseline, not both", {}, usage);
  }
  if (!options.baseline && options.base.empty()) return fail("no base to compare with", {}, usage);
  if (options.candidate.empty()) return fail("no candidate to compare", {}, usage);
  if (!options.label.empty() && !options.baseline) return fail("is for runs of a --baseline", "--label", usage);
  return {};
}

Result<CompareOptions> compare_options(const Request& request) {
  CompareOptions options;
  ASSIGN_OR_RETURN(options.output, output_options(request));
  ASSIGN_OR_RETURN(options.source_file, source_file_of(request));
  options.reading = reading_options(request);
  options.label = request.text("label");
  options.ideal = request.given("ideal");
  options.budgets = request.budgets;
  options.choice.is_weak = request.is_set("weak");
  if (const std::optional<std::string> share = request.given("max-slowdown")) {
    options.choice.max_slowdown = parse_share(*share);
  }
  if (const std::optional<std::string> share = request.given("max-extra-work")) {
    options.reading.setup.thresholds[std::string(kComparisonThresholds)]["max_extra_work"] = *parse_share(*share);
  }
  options.choice.is_across_machines = request.is_set("across-machines");
  options.choice.fail_on = fail_on_of(request);
  for (const GivenValue& judged : request.values.all("judge")) {
    options.choice.judges_get_next |= judged.text != "step";
    options.choice.judges_step |= judged.text != "get-next";
  }
  RETURN_IF_ERROR(take_sides(request, options));
  return options;
}

std::vector<RunSummary> summaries_of(const Recordings& recordings) {
  std::vector<RunSummary> summaries;
  for (const StoredRun& run : recordings.runs) summaries.push_back(run.summary);
  return summaries;
}

/// The runs of a baseline that have the label that is asked for, or all.
Result<Recordings> read_baseline(const std::string& file, const std::string& label) {
  ASSIGN_OR_RETURN(std::vector<StoredRun> runs, load_baseline(file));
  Recordings recordings;
  recordings.files = {file};
  for (StoredRun& run : runs) {
    if (label.empty() || run.label == label) recordings.runs.push_back(std::move(run));
  }
  if (recordings.runs.empty() && !label.empty()) {
    return fail("holds no run with the label '" + label + "'", file, "'tfdata-doctor baseline show' lists its runs");
  }
  if (recordings.runs.empty()) {
    return fail("holds no run yet", file, "'tfdata-doctor baseline add FILE TRACE...' adds some");
  }
  return recordings;
}

struct Sides {
  Recordings base;
  Recordings candidate;
  Recordings ideal;
};

/// Errors: a recording of the ceiling cannot be read, or shows no steps.
Result<void> check_ideals(const Recordings& ideal) {
  if (!ideal.unreadable.empty()) return Unexpected(ideal.unreadable.front());
  for (const StoredRun& run : ideal.runs) {
    if (!steps_per_s(run.summary)) return Unexpected(no_ideal_steps(run.summary.source));
  }
  return {};
}

Result<Sides> read_sides(const CompareOptions& options) {
  RETURN_IF_ERROR(limit_memory(options.reading.max_memory));
  SandboxNeeds needs = {.inputs = {}, .outputs = paths_of(options.output)};
  if (options.baseline) needs.inputs.push_back(*options.baseline);
  const auto find = [&](const std::vector<std::string>& paths) {
    Result<std::vector<NamedRecordings>> named = find_recordings(paths);
    const std::vector<std::string> files = named ? files_of(*named) : std::vector<std::string>();
    needs.inputs.insert(needs.inputs.end(), files.begin(), files.end());
    return named;
  };
  ASSIGN_OR_RETURN(std::vector<NamedRecordings> named_base, find(options.base));
  ASSIGN_OR_RETURN(std::vector<NamedRecordings> named_candidate, find(options.candidate));
  ASSIGN_OR_RETURN(std::vector<NamedRecordings> named_ideal,
                   find(options.ideal ? std::vector{*options.ideal} : std::vector<std::string>()));
  RETURN_IF_ERROR(enter_sandbox(options.reading.sandbox, needs));
  std::optional<Recordings> baseline;
  if (options.baseline) {
    ASSIGN_OR_RETURN(baseline, read_baseline(*options.baseline, options.label));
  }
  ASSIGN_OR_RETURN(std::vector<Recordings> read,
                   read_recordings({{std::move(named_base), options.label},
                                    {std::move(named_candidate), options.label, options.budgets},
                                    {std::move(named_ideal)}},
                                   options.reading, options.output.quiet));
  Sides sides = {baseline ? *std::move(baseline) : std::move(read[0]), std::move(read[1]), std::move(read[2])};
  RETURN_IF_ERROR(check_ideals(sides.ideal));
  std::vector<std::string> files;
  for (const Recordings* side : {&sides.base, &sides.candidate, &sides.ideal}) {
    files.insert(files.end(), side->files.begin(), side->files.end());
  }
  RETURN_IF_ERROR(check_outputs(options.output.targets, files));
  return sides;
}

/// A recording on both sides is compared with itself.
void warn_of_shared_runs(const Sides& sides) {
  for (const StoredRun& run : sides.candidate.runs) {
    const auto is_same = [&](const StoredRun& other) { return other.id == run.id; };
    if (std::ranges::any_of(sides.base.runs, is_same)) {
      print_error({"is on both sides of the comparison", run.summary.source, {}, {}});
    }
  }
}

/// Paths as a shell takes them.
std::string in_shell(const std::vector<std::string>& paths) {
  std::vector<std::string> words;
  for (const std::string& path : paths) words.push_back(shell_word(path));
  return fmt::format("{}", fmt::join(words, " "));
}

ProblemReport problems_between(const RunComparison& comparison, const Sides& sides, const CompareOptions& options) {
  ComparisonContext context;
  context.source = options.source_file;
  if (!sides.candidate.files.empty()) context.candidate = sides.candidate.files.front();
  context.working_directory = working_directory();
  const std::string candidate = in_shell(options.candidate);
  if (options.baseline) context.baseline = shell_word(*options.baseline) + " " + candidate;
  context.arguments = options.baseline ? "--baseline " + context.baseline : in_shell(options.base) + " -- " + candidate;
  return problems_of(comparison, context);
}

/// The numbers of the baseline's versions and of the candidate.
History history_with_candidate(const Sides& sides, const ThresholdValues& thresholds) {
  std::vector<StoredRun> runs = sides.base.runs;
  runs.insert(runs.end(), sides.candidate.runs.begin(), sides.candidate.runs.end());
  return history_of(runs, thresholds);
}

/// Since which version a number is what it is, of those that changed last.
void add_history_notes(const History& history, RunComparison& comparison) {
  constexpr std::size_t kMostNotes = 3;
  std::size_t notes = 0;
  for (const HistorySeries& series : history.series) {
    if (series.changes.empty() || notes == kMostNotes) continue;
    comparison.notes.push_back("history: " + describe_change(history, series, series.changes.back()));
    ++notes;
  }
}

/// A budget that more than half of the candidate's recordings exceed fails the comparison, whatever the base is. One
/// that none of them could evaluate leaves it open.
void add_budgets(const Recordings& candidate, RunComparison& comparison) {
  for (const std::vector<BudgetOnRecording>& recordings : candidate.budgets) {
    std::size_t exceeded = 0;
    std::size_t evaluated = 0;
    std::string text;
    for (const BudgetOnRecording& one : recordings) {
      if (text.empty() || (one.is_exceeded && exceeded == 0)) text = one.text;
      exceeded += one.is_exceeded ? 1U : 0U;
      evaluated += one.is_evaluated ? 1U : 0U;
    }
    if (2 * exceeded > evaluated) {
      comparison.changes.insert(comparison.changes.begin(),
                                {ChangeKind::budget_exceeded,
                                 {},
                                 {},
                                 fmt::format("{} ({} of {} candidate recordings)", text, exceeded, recordings.size()),
                                 true,
                                 true});
      comparison.outcome = ComparisonOutcome::regression;
    } else if (evaluated == 0 && !text.empty()) {
      comparison.notes.push_back("budget: " + text);
      if (comparison.outcome == ComparisonOutcome::no_regression) comparison.outcome = ComparisonOutcome::inconclusive;
    }
  }
}

/// What a comparison is rendered from.
struct ComparedSides {
  const RunComparison& comparison;
  const OrderedJson& history;  ///< null without a baseline
  const CompareOptions& options;
};

constexpr std::array<FormatRow<std::string(const ComparedSides& sides)>, 4> kComparisonFormats = {
    {{OutputFormat::text,
      [](const ComparedSides& sides) {
        return render_comparison_text(sides.comparison, style_of(sides.options.output, sides.options.candidate));
      }},
     {OutputFormat::json, [](const ComparedSides& sides) { return to_text(comparison_json(sides.comparison)); }},
     {OutputFormat::html,
      [](const ComparedSides& sides) {
        return render_comparison_html(comparison_json(sides.comparison), sides.history,
                                      {sides.options.base, sides.options.candidate}, sides.options.reading.setup);
      }},
     {OutputFormat::svg,
      [](const ComparedSides& sides) { return render_comparison_svg(comparison_json(sides.comparison)); }}}};

int compare_sides(const Sides& sides, const CompareOptions& options) {
  const OutputOptions& output = options.output;
  print_missing(sides.base, output.quiet);
  print_missing(sides.candidate, output.quiet);
  if (!output.quiet) warn_of_shared_runs(sides);
  current_work().progress.stage = "compare";
  const ThresholdValues thresholds =
      values_in_force(kComparisonThresholds, comparison_thresholds(), options.reading.setup.thresholds);
  const std::vector<RunSummary> base = summaries_of(sides.base);
  const std::vector<RunSummary> candidate = summaries_of(sides.candidate);
  RunComparison comparison = compare(base, candidate, options.choice, thresholds);
  add_budgets(sides.candidate, comparison);
  OrderedJson history;
  if (options.baseline && options.label.empty()) {
    const History versions = history_with_candidate(sides, thresholds);
    add_history_notes(versions, comparison);
    history = history_json(versions);
  }
  comparison.settings_note = output.settings_note;
  if (options.ideal) comparison.ideal = closed_gap(*options.ideal, base, candidate, summaries_of(sides.ideal));
  ProblemReport problems = problems_between(comparison, sides, options);
  problems.settings_note = output.settings_note;
  const bool are_written = write_documents(output, [&](OutputFormat format) -> Result<std::string> {
    if (const auto* const own = find_row(kComparisonFormats, format))
      return own->render({comparison, history, options});
    return render_problems(problems, format).value_or("");
  });
  const bool are_read = sides.base.unreadable.empty() && sides.candidate.unreadable.empty();
  return are_written && are_read ? exit_code_of(problems.outcome) : kExitFailure;
}

}  // namespace

std::vector<OutputFormat> comparison_formats() {
  return with_problem_formats(kComparisonFormats);
}

Result<int> run_compare(const Request& request) {
  ASSIGN_OR_RETURN(const CompareOptions options, compare_options(request));
  ASSIGN_OR_RETURN(const Sides sides, read_sides(options));
  return compare_sides(sides, options);
}

}  // namespace doctor
