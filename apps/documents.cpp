#include "documents.h"

#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/try.h"
#include "command_line/option_table.h"
#include "io/trace_inputs.h"
#include "report/html/html_page.h"
#include "report/page.h"
#include "report/report.h"
#include "report/rule_pages.h"
#include "text/escape.h"

namespace doctor {
namespace {

constexpr std::array<FormatRow<std::string(const ProblemReport&)>, 5> kProblemFormats = {
    {{OutputFormat::sarif, render_sarif},
     {OutputFormat::junit, render_junit},
     {OutputFormat::gitlab, render_gitlab},
     {OutputFormat::github, render_github},
     {OutputFormat::markdown, render_markdown}}};

/// Whether pages for a person get colours.
bool wants_color(const OutputOptions& output) {
  if (output.color != ColorChoice::automatic) return output.color == ColorChoice::always;
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  const bool is_refused =
      (no_color != nullptr && *no_color != '\0') || (terminal != nullptr && std::string_view(terminal) == "dumb");
  const bool is_to_terminal = output.targets.front().is_standard_output() && ::isatty(STDOUT_FILENO) != 0;
  return is_to_terminal && !is_refused;
}

LogEscape escape_of(OutputFormat format) {
  using enum OutputFormat;
  if (format == github) return LogEscape::none;  // annotations are commands on purpose
  return format == json || format == sarif || format == gitlab ? LogEscape::json : LogEscape::text;
}

/// The summary of the job's step; empty: there is none.
std::string step_summary() {
  const char* const file = std::getenv("GITHUB_STEP_SUMMARY");
  return file == nullptr ? std::string() : file;
}

/// A page for people with the file whose settings count; documents for programs have it in a place of their own.
std::string with_note(std::string page, OutputFormat format, const std::string& note) {
  if (format != OutputFormat::text || note.empty()) return page;
  return page + "\nsettings  " + escape_for_terminal(note) + "\n";
}

/// Writes one document. Errors: it cannot be made, or not be written. That a step has no summary is only reported.
Result<void> write_document(const OutputTarget& target, const DocumentRenderer& render, const std::string& note) {
  Result<std::string> page = render(target.format);
  if (!page) return Unexpected(page.error());
  page = with_note(*std::move(page), target.format, note);
  if (target.format == OutputFormat::text && is_ascii_locale()) page = in_ascii(*std::move(page));
  if (!target.is_step_summary) return write_output(*page, target.path, escape_of(target.format));
  if (const Result<void> appended = append_output(*page, target.path); !appended) {
    print_error({"the step has no summary: " + appended.error().what, target.path, {}, {}});
  }
  return {};
}

/// A page of `show` that is part of the page, and how many of its rows.
struct ShownPart {
  std::string_view page;
  std::size_t top;
  bool needs_hosts = false;  ///< is drawn of several hosts alone
};

constexpr std::uint64_t kLargestWithHistory = 256'000'000;

// As many rows as a person looks at: the page stays small, however long the trace is.
constexpr std::array<ShownPart, 7> kParts = {{{"timeline", 0},
                                              {"steps", kMostOfList},
                                              {"autotune", 0},
                                              {"ops", 15},
                                              {"kernels", 15},
                                              {"memory", 15},
                                              {"hosts", 100, true}}};

/// A trace that has nothing of it gets no such part.
void add_part(const ShownPart& part, const std::string& prefix, const Analysis& analysis, PageDocuments& documents) {
  ShowOptions options;
  options.top = part.top;
  Result<OrderedJson> document =
      find_page(part.page)->document_of({analysis.measurements, analysis.diagnosis, options});
  if (document) documents[prefix + std::string(part.page)] = *std::move(document);
}

/// The findings' rules with their questions about these traces, and their pages.
void add_explanations(const Analysis& analysis, const ThresholdSettings& thresholds, PageDocuments& documents) {
  std::vector<CatalogEntry> spoke;
  for (const CatalogEntry& entry : rule_catalog()) {
    const std::vector<Finding>& findings = analysis.diagnosis.findings;
    const bool is_found =
        std::ranges::any_of(findings, [&](const Finding& finding) { return finding.rule == entry.rule.id; });
    if (!is_found) continue;
    spoke.push_back(entry);
    documents["explanation_" + std::string(entry.rule.id)] =
        explanation_json(entry.rule, analysis.measurements, analysis.diagnosis);
  }
  documents["rules"] = rules_json(spoke, thresholds, /*with_pages=*/true);
}

/// Report and timeline of the first recording of a side, under names that begin with `prefix`. Of a recording that is
/// gone, or a baseline, there is nothing to draw.
void add_side(const std::string& prefix, const std::vector<std::string>& paths, DiagnosisSetup setup,
              PageDocuments& documents) {
  if (paths.empty()) return;
  const Result<std::vector<Run>> runs = list_recordings(paths.front());
  if (!runs || runs->empty()) return;
  setup.needs.timeline = CallRequest();
  const Analysis analysis = diagnose_files(runs->front().files, setup);
  if (!analysis.has_readable_file()) return;
  documents[prefix + "report"] = report_json(analysis.measurements, analysis.diagnosis);
  add_part({"timeline", 0}, prefix, analysis, documents);
}

}  // namespace

bool is_ascii_locale() {
  for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* const value = std::getenv(name);
    if (value != nullptr && *value != '\0') return std::string_view(value) == "C" || std::string_view(value) == "POSIX";
  }
  return false;
}

Result<OutputOptions> output_options(const Request& request) {
  OutputOptions output;
  std::vector<OutputFormat> formats = formats_of(request);
  const bool reports_problems = std::ranges::find(formats, OutputFormat::sarif) != formats.end();
  if (find_option(request.command, "color") != nullptr) output.color = static_cast<ColorChoice>(request.word("color"));
  output.quiet = request.is_set("quiet");
  output.verbose = request.is_set("verbose");
  if (reports_problems && !request.set_by_file.empty()) {
    output.settings_note = request.config_file.value_or("") + ": " + request.set_by_file;
  }
  OutputRequest wanted = {request.given("format"),
                          {},
                          std::move(formats),
                          step_summary(),
                          request.command == Command::show ? "page" : "command"};
  for (const GivenValue& path : request.values.all("output")) wanted.outputs.push_back(path.text);
  ASSIGN_OR_RETURN(std::vector<OutputTarget> targets, choose_outputs(wanted));
  // One that writes FORMAT=FILE alone does not print a second document.
  const bool is_one_file = targets.size() == 2 && wanted.outputs.size() == 1 && !wanted.format;
  if (is_one_file && !reports_problems) targets.erase(targets.begin());
  if (targets.size() > 1 && !reports_problems) {
    return fail("several documents of a command that writes one", "--output", "run it once for each");
  }
  output.targets = std::move(targets);
  return output;
}

bool write_documents(const OutputOptions& output, const DocumentRenderer& render) {
  bool are_written = true;
  for (const OutputTarget& target : output.targets) {
    const Result<void> written = write_document(target, render, output.settings_note);
    if (written) continue;
    print_error(written.error());
    are_written = false;
  }
  return are_written;
}

std::vector<OutputFormat> problem_formats() {
  return formats_in(kProblemFormats);
}

std::optional<std::string> render_problems(const ProblemReport& problems, OutputFormat format) {
  const auto* const row = find_row(kProblemFormats, format);
  return row == nullptr ? std::nullopt : std::optional(row->render(problems));
}

int exit_code_of(ProblemOutcome outcome) {
  using enum ProblemOutcome;
  return outcome == passed ? kExitClean : outcome == failed ? kExitFinding : kExitNothing;
}

PageWidth page_width(const OutputOptions& output) {
  constexpr std::size_t kNarrowest = 40;  // a page needs as much
  const auto text = std::ranges::find_if(
      output.targets, [](const OutputTarget& target) { return target.format == OutputFormat::text; });
  const bool is_to_terminal =
      text != output.targets.end() && text->is_standard_output() && ::isatty(STDOUT_FILENO) != 0;
  const PageWidth columns = is_to_terminal ? columns_of(STDOUT_FILENO) : columns_of_environment();
  return columns ? std::max(*columns, kNarrowest) : columns;
}

TextStyle style_of(const OutputOptions& output, const std::vector<std::string>& traces) {
  TextStyle style;
  style.width = page_width(output);
  style.color = wants_color(output);
  style.detail = output.quiet ? Detail::verdict : output.verbose ? Detail::full : Detail::screen;
  if (!traces.empty()) style.rerun.clear();
  for (const std::string& trace : traces) style.rerun.push_back(shell_word(trace));
  return style;
}

std::optional<Severity> fail_on_of(const Request& request) {
  const std::size_t chosen = request.word("fail-on");
  constexpr std::size_t kNever = 3;  // the word after those of Severity
  return chosen < kNever ? std::optional(static_cast<Severity>(chosen)) : std::nullopt;
}

Result<std::optional<ProblemLocation>> source_file_of(const Request& request) {
  const std::optional<std::string> given = request.given("source-file");
  if (!given) return std::nullopt;
  ASSIGN_OR_RETURN(ProblemLocation source, parse_source_file(*given, working_directory()));
  return source;
}

std::string working_directory() {
  std::error_code ignored;  // no file lies below a directory that is gone
  return std::filesystem::current_path(ignored).string();
}

TraceNeeds html_page_needs() {
  return {.attribute_history = true,
          .largest_with_history = kLargestWithHistory,
          .element_types = true,
          .profile = ProfileParts(),
          .most_profiled_events = kMostProfiledEvents,
          .timeline = CallRequest()};
}

std::string render_diagnosis_html(const Analysis& analysis, const ThresholdSettings& thresholds) {
  PageDocuments documents = {{"report", report_json(analysis.measurements, analysis.diagnosis)}};
  const bool has_profile = event_count(analysis.measurements) <= kMostProfiledEvents;
  const bool has_hosts = analysis.measurements.hosts.size() > 1;
  for (const ShownPart& part : kParts) {
    const bool needs_profile = find_page(part.page)->needs({}).profile.has_value();
    if ((has_profile || !needs_profile) && (has_hosts || !part.needs_hosts)) add_part(part, {}, analysis, documents);
  }
  add_explanations(analysis, thresholds, documents);
  return render_html(std::move(documents), title_of_traces(analysis.measurements));
}

std::string render_comparison_html(OrderedJson comparison, OrderedJson history, const ComparedPaths& paths,
                                   const DiagnosisSetup& setup) {
  PageDocuments documents = {{"comparison", std::move(comparison)}};
  if (!history.is_null()) documents["history"] = std::move(history);
  add_side("base_", paths.base, setup, documents);
  add_side("candidate_", paths.candidate, setup, documents);
  return render_html(std::move(documents), "Comparison");
}

}  // namespace doctor
