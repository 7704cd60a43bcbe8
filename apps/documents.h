#pragma once

#include "base/result.h"
#include "command_line/output_targets.h"
#include "command_line/request.h"
#include "pipeline.h"
#include "report/problem.h"
#include "text/json_page.h"
#include "text/text_page.h"

namespace doctor {

enum class ColorChoice { automatic, always, never };

/// The options of every command that prints documents: their targets and formats, and the style of pages for a person.
struct OutputOptions {
  std::vector<OutputTarget> targets;  ///< at least one, the main one first
  ColorChoice color = ColorChoice::automatic;
  bool quiet = false;
  bool verbose = false;
  std::string settings_note;  ///< the file whose settings apply, for commands that judge; empty: none

  OutputFormat format() const { return targets.front().format; }

  /// The file of the main document; empty or "-" is standard output.
  const std::string& path() const { return targets.front().path; }
};

/// Reads --format, --output, --color, --quiet and --verbose, as far as the command has them. A command that reports
/// problems can write several documents. Errors: a format that does not exist (formats_of()), two documents for one
/// place, several documents of a command that writes one.
Result<OutputOptions> output_options(const Request& request);

/// Renders the result of a command as a document of one of the wanted formats. Errors: there is no such document.
using DocumentRenderer = std::function<Result<std::string>(OutputFormat)>;

/// Writes all documents, even if one fails. Returns true if all were written; failures are reported on standard error.
bool write_documents(const OutputOptions& output, const DocumentRenderer& render);

/// The formats that are made for CI.
std::vector<OutputFormat> problem_formats();

/// The problems in a format that is made for CI; nullopt for other formats.
std::optional<std::string> render_problems(const ProblemReport& problems, OutputFormat format);

/// The formats of a command's own rows, followed by those that are made for CI.
template <typename Rows>
std::vector<OutputFormat> with_problem_formats(const Rows& rows) {
  std::vector<OutputFormat> formats = formats_in(rows);
  const std::vector<OutputFormat> more = problem_formats();
  formats.insert(formats.end(), more.begin(), more.end());
  return formats;
}

/// The exit status for an outcome.
int exit_code_of(ProblemOutcome outcome);

/// Tests whether the locale is named C: then text is ASCII. If no variable names one, as in many containers, UTF-8 is
/// shown.
bool is_ascii_locale();

/// The width of the text that the options ask for: that of the terminal that it goes to, or COLUMNS.
PageWidth page_width(const OutputOptions& output);

/// The style of a page about the traces that the user named.
TextStyle style_of(const OutputOptions& output, const std::vector<std::string>& traces);

/// --fail-on; nullopt: never.
std::optional<Severity> fail_on_of(const Request& request);

/// --source-file. Errors: those of parse_source_file().
Result<std::optional<ProblemLocation>> source_file_of(const Request& request);

/// The working directory; empty if it no longer exists.
std::string working_directory();

/// The data that a page for a browser needs beyond a diagnosis: that of the pages of `show` on it.
TraceNeeds html_page_needs();

/// A diagnosis as a page for a browser, with the pages of `show` for the same traces, and the reasons of each rule. The
/// analysis must be made with html_page_needs().
std::string render_diagnosis_html(const Analysis& analysis, const ThresholdSettings& thresholds);

/// The sides of a comparison, by the paths of what is drawn of them: their first recordings.
struct ComparedPaths {
  std::vector<std::string> base;  ///< as the user named them; recordings of a baseline have no trace to draw
  std::vector<std::string> candidate;
};

/// A comparison as such a page: the document of `compare`, and in `history` that of `baseline log`, null without a
/// baseline. The first recording of each side is read for its pipeline and its steps.
std::string render_comparison_html(OrderedJson comparison, OrderedJson history, const ComparedPaths& paths,
                                   const DiagnosisSetup& setup);

}  // namespace doctor
