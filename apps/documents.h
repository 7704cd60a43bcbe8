#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "command_line/output_format.h"
#include "command_line/output_targets.h"
#include "command_line/request.h"
#include "report/problem.h"
#include "text/text_page.h"

namespace doctor {

enum class ColorChoice { automatic, always, never };

/// What every command takes that prints documents: where to, in which format, and how pages for a person look.
struct OutputOptions {
  std::vector<OutputTarget> targets;  ///< at least one, the main one first
  ColorChoice color = ColorChoice::automatic;
  bool quiet = false;
  bool verbose = false;
  std::string settings_note;  ///< which file's settings count, for what judges; empty: none do

  OutputFormat format() const { return targets.front().format; }

  /// The file of the main document; empty or "-" is standard output.
  const std::string& path() const { return targets.front().path; }
};

/// Takes --format, --output, --color, --quiet and --verbose, as far as the command has them. One that reports problems
/// can write several documents. Errors: a format that there is not (formats_of()), two documents for one place, several
/// documents of a command that writes one.
Result<OutputOptions> output_options(const Request& request);

/// What a command found, as a document of one of the formats that are wanted. Errors: there is no such document.
using DocumentRenderer = std::function<Result<std::string>(OutputFormat)>;

/// Writes all documents, whatever becomes of one. Whether all were written; what was not is reported on standard error.
bool write_documents(const OutputOptions& output, const DocumentRenderer& render);

/// The formats that are made for CI.
std::vector<OutputFormat> problem_formats();

/// The problems in a format that is made for CI; nullopt for one that is not.
std::optional<std::string> render_problems(const ProblemReport& problems, OutputFormat format);

/// The formats of a command's own rows, and after them those that are made for CI.
template <typename Rows>
std::vector<OutputFormat> with_problem_formats(const Rows& rows) {
  std::vector<OutputFormat> formats = formats_in(rows);
  const std::vector<OutputFormat> more = problem_formats();
  formats.insert(formats.end(), more.begin(), more.end());
  return formats;
}

/// How the program ends.
int exit_code_of(ProblemOutcome outcome);

/// Whether the locale is C by name: text is ASCII then. Where no variable says one, as in many containers, UTF-8 is
/// shown.
bool is_ascii_locale();

/// Columns of the text that the options ask for: those of the terminal that it goes to, or of COLUMNS.
PageWidth page_width(const OutputOptions& output);

/// How a page about the traces that the user named is to look.
TextStyle style_of(const OutputOptions& output, const std::vector<std::string>& traces);

/// --fail-on; nullopt: never.
std::optional<Severity> fail_on_of(const Request& request);

/// --source-file. Errors: those of parse_source_file().
Result<std::optional<ProblemLocation>> source_file_of(const Request& request);

/// The working directory; empty where it is gone.
std::string working_directory();

}  // namespace doctor
